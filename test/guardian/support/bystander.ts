import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { turns } from './fifo.ts';
import { inState } from './processes.ts';
import { program } from './programs.ts';
import { workDirectory } from './scope.ts';

export interface Bystander {
  readonly pid: number;
  /** Ends it. Of two pending signals of one kind the kernel keeps one; a stop shows in its state, a kill in its end. */
  signalsSeen(): Promise<number>;
}

/** A process of the same user that belongs to no scope: whatever signal it gets has hit the wrong one. */
export async function bystander(): Promise<Bystander> {
  const t = turns(workDirectory(), 'bystander');
  const child = spawn(program('bystander'), [...t.paths], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said = text(child.stdout);
  const pid = await t.ready();
  return {
    pid,
    signalsSeen: async () => {
      await inState(pid, 'S');
      await t.release();
      return Number(await said);
    },
  };
}
