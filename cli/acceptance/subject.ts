/** A process that others would have launched: it waits to be ended, and is ours to end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { killAtOnce } from '../demo/witness.ts';
import type { Trying } from './row.ts';

export interface Subject {
  readonly pid: number;
  /** SIGKILL, and nobody is told. */
  end(): Promise<void>;
}

export interface SubjectOptions {
  /** Where it works; its own directory otherwise. */
  readonly cwd?: string;
}

export async function subject({ atEnd }: Pick<Trying, 'atEnd'>, { cwd = '/' }: SubjectOptions = {}): Promise<Subject> {
  const child = spawn('sleep', ['600'], { stdio: 'ignore', cwd });
  await once(child, 'spawn');
  const exited = once(child, 'exit');
  const pid = child.pid!;
  const end = async (): Promise<void> => {
    // Nobody else can have the pid before it is reaped here.
    if (child.exitCode === null && child.signalCode === null) await killAtOnce(pid);
    await exited;
  };
  atEnd(end);
  return { pid, end };
}

export const subjects = (trying: Pick<Trying, 'atEnd'>, count: number): Promise<Subject[]> =>
  Promise.all(Array.from({ length: count }, () => subject(trying)));
