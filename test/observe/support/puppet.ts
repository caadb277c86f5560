import { spawn } from 'node:child_process';
import { LineDialogue } from './lines.ts';

/** The child as the puppeteer saw it, in a guardian's words; `fd` is the puppeteer's pidfd of it. */
export interface PuppetState {
  readonly pid: number;
  readonly start: string;
  readonly pidfs: string;
  readonly fd: number;
}

export interface Puppeteer {
  readonly pid: number;
  do(command: string): Promise<PuppetState>;
  /** Two processes under one pid, born within one clock tick; the second one lives. */
  sameTick(pid: number): Promise<{ first: PuppetState; second: PuppetState }>;
  close(): Promise<void>;
}

export function startPuppeteer(program: string): Puppeteer {
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'pipe'] });
  const dialogue = new LineDialogue(child);
  return {
    pid: child.pid!,
    do: (command) => dialogue.ask<PuppetState>(command),
    async sameTick(pid) {
      const first = await dialogue.ask<PuppetState>(`sametick ${pid}`);
      return { first, second: await dialogue.next<PuppetState>() };
    },
    close: () => dialogue.close(),
  };
}
