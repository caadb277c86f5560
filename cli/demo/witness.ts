/**
 * What a plain shell sees of processes. Custody's own eyes would be a poor witness for Custody; these few lines anybody
 * can type.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { attempt, outputOf } from './command.ts';

/** Nothing of the demonstration in it: the witness must not find itself. */
const env = { PATH: process.env.PATH, LC_ALL: 'C' };

/** Those of `pids` that the kernel knows and that have not ended (proc_pid_stat(5): Z and X are dead). */
export async function living(pids: readonly number[]): Promise<readonly number[]> {
  const script = 'for pid; do { read -r line < "/proc/$pid/stat"; } 2> /dev/null && echo "$line"; done; true';
  const stats = await outputOf('sh', ['-c', script, 'sh', ...pids.map(String)], { env });
  return stats.split('\n').flatMap((stat) => {
    const [, pid, state = 'X'] = /^(\d+) \(.*\) (\S)/.exec(stat) ?? [];
    return state === 'Z' || state === 'X' ? [] : [Number(pid)];
  });
}

/** Who has started it, and has not ended since (proc_pid_stat(5)). */
export async function parentOf(pid: number): Promise<number> {
  const stat = await outputOf('sh', ['-c', 'read -r line < "/proc/$1/stat" && echo "$line"', 'sh', String(pid)], {
    env,
  });
  return Number(/^\d+ \(.*\) \S (\d+)/.exec(stat)?.[1]);
}

export interface Traces {
  /** How many processes there were to look at. */
  readonly lookedAt: number;
  readonly pids: readonly number[];
}

/** Every process that has `name` in its environment, on its command line or in the path of its working directory. */
export async function tracesOf(name: string): Promise<Traces> {
  const script = [
    'set -- /proc/[0-9]*',
    'echo "$#"',
    'grep -lsF -e "$NEEDLE" /proc/[0-9]*/environ',
    // Not an operand: the witness would find itself.
    'echo "$NEEDLE" | grep -lsF -f - /proc/[0-9]*/cmdline',
    'ls -ld /proc/[0-9]*/cwd 2> /dev/null | grep -F -e "$NEEDLE"',
    'true',
  ].join('\n');
  // The name goes through a variable of the shell itself, which is not exported to what it starts.
  const { stdout } = await attempt('sh', [], { env, input: `NEEDLE=${name}\n${script}\n` });
  const [first = '0', ...lines] = stdout.trim().split('\n');
  const pids = lines.flatMap((line) => /\/proc\/(\d+)\/(?:environ|cmdline|cwd)/.exec(line)?.[1] ?? []);
  return { lookedAt: Number(first), pids: [...new Set(pids.map(Number))] };
}

/** What a crash, an out-of-memory killer or a hasty person does to a process. */
export const killAtOnce = (...pids: readonly number[]): Promise<string> =>
  outputOf('sh', ['-c', 'kill -KILL "$@"', 'sh', ...pids.map(String)], { env });

export interface ArmedKill {
  /** Resolves when the signal has been sent. */
  fire(): Promise<void>;
}

/** The same by a shell that is up already, so that the kill comes when it is meant to and not when a shell has started. */
export async function armedKill(pid: number): Promise<ArmedKill> {
  const script = 'echo armed; read -r line; kill -KILL "$1"';
  const shell = spawn('sh', ['-c', script, 'sh', String(pid)], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const over = once(shell, 'exit');
  await once(shell.stdout, 'data');
  return {
    async fire() {
      shell.stdin.end('\n');
      await over;
    },
  };
}

/** A signal for each process, as a person at a shell sends it: `STOP`, `CONT`. */
export const signalled = (name: 'STOP' | 'CONT', ...pids: readonly number[]): Promise<string> =>
  outputOf('sh', ['-c', 'name=$1; shift; kill -s "$name" "$@"', 'sh', name, ...pids.map(String)], { env });

/** Its children at this moment (proc_pid_children(5)). */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  const found = await outputOf('sh', ['-c', 'cat "/proc/$1/task/$1/children"', 'sh', String(pid)], { env });
  return found.split(' ').filter(Boolean).map(Number);
}

/** The first of `names` that is not in PATH. */
export async function missing(names: readonly string[]): Promise<string | undefined> {
  const script = 'for name; do command -v "$name" > /dev/null || { echo "$name"; exit; }; done';
  return (await outputOf('sh', ['-c', script, 'sh', ...names], { env })) || undefined;
}
