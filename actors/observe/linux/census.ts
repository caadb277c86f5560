/**
 * Every process there is, at one moment (proc(5)). For looks that somebody asks for, never for what is done at intervals:
 * it costs two reads for each process of the machine. A process that cannot be read, or goes meanwhile, is left out, so an
 * absence says nothing.
 */
import { readdirSync } from 'node:fs';
import type { ProcReader } from './proc.ts';
import { parseStat } from './stat.ts';

export interface SeenProcess {
  readonly pid: number;
  readonly ppid: number;
  /** The real user id. */
  readonly uid: number;
  /** Clock ticks after boot, as its identity has them. */
  readonly start: string;
  /** As the kernel shows it (proc_pid_comm(5)): chosen by the process, and identifies nobody. */
  readonly name: string;
}

export function listProcesses(proc: ProcReader, procRoot: string): SeenProcess[] {
  return readdirSync(procRoot)
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => seen(proc, `${procRoot}/${name}`) ?? []);
}

function seen(proc: ProcReader, directory: string): SeenProcess | undefined {
  try {
    const bytes = Buffer.from(proc.text(`${directory}/stat`), 'latin1');
    const stat = parseStat(bytes, bytes.length);
    const status = proc.text(`${directory}/status`);
    const [name, ppid, uid] = [/^Name:\t(.*)$/m, /^PPid:\t(\d+)$/m, /^Uid:\t(\d+)\t/m].map(
      (key) => key.exec(status)?.[1],
    );
    if (stat === undefined || name === undefined || ppid === undefined || uid === undefined) return undefined;
    return { pid: stat.pid, ppid: Number(ppid), uid: Number(uid), start: stat.start, name };
  } catch {
    return undefined;
  }
}

/**
 * A process and those of the same name that are its parents or children without a stranger between: everything that one
 * program consists of that has forked before it did anything else. Empty when the process is not there.
 */
export function sameProgram(processes: readonly SeenProcess[], pid: number): readonly SeenProcess[] {
  const first = processes.find((one) => one.pid === pid);
  const found = first === undefined ? [] : [first];
  for (let at = 0; at < found.length; at += 1) {
    const { pid: here, ppid, name } = found[at]!;
    const relatives = processes.filter((one) => one.ppid === here || one.pid === ppid);
    found.push(...relatives.filter((one) => one.name === name && !found.includes(one)));
  }
  return found;
}
