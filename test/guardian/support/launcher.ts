import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { LaunchReady, LaunchRequest } from '../../../pty/launch/launch.ts';
import { guardian, launcherProgram } from './programs.ts';

/** `program` is the launcher program of fixtures/ that carries it out. */
export type Order = Partial<LaunchRequest> &
  Pick<LaunchRequest, 'scopeDir' | 'argv'> & { atOnce?: boolean; program?: 'launcher' | 'terminalHost' };

export interface Launcher {
  readonly child: ChildProcess;
  /** The next thing that it says; undefined at its end. */
  heard(): Promise<Record<string, unknown> | undefined>;
  tell(line: 'open' | 'abandon'): void;
}

/** The command line of a launcher process, for shells and workloads that start one. */
export function launcherCommand({ program, ...order }: Order): string[] {
  return [process.execPath, launcherProgram(program), JSON.stringify({ guardianPath: guardian(), ...order })];
}

/** Starts a launcher process; `command` puts another program in front of it (unshare, setpriv). */
export function launcher(order: Order, options: SpawnOptions & { command?: readonly string[] } = {}): Launcher {
  const { command = [], ...spawnOptions } = options;
  const [file, ...args] = [...command, ...launcherCommand(order)];
  const child = spawn(file!, args, { stdio: ['pipe', 'pipe', 'inherit'], ...spawnOptions });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return {
    child,
    heard: async () => {
      const next = await lines.next();
      return next.done ? undefined : JSON.parse(next.value);
    },
    tell: (line) => child.stdin!.write(`${line}\n`),
  };
}

export async function heardReady(l: Launcher): Promise<LaunchReady> {
  const said = await l.heard();
  if (said?.ready === undefined) throw new Error(`instead of ready: ${JSON.stringify(said)}`);
  return said.ready as LaunchReady;
}
