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
  /** It runs no program: a thread of the kernel, or one that has ended and waits for its parent, with all of its threads. */
  readonly isHollow: boolean;
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
    return {
      pid: stat.pid,
      ppid: Number(ppid),
      uid: Number(uid),
      start: stat.start,
      isHollow: stat.threads <= 1 && !/^VmSize:/m.test(status),
      name,
    };
  } catch {
    return undefined;
  }
}

/** What the two processes of a guardian call themselves (pty/guardian/witness.c); the kernel keeps 15 letters. */
const ofGuardians: ReadonlySet<string> = new Set(['custody-guardia', 'custody-witness']);

const isSameProgram = (one: string, other: string): boolean =>
  one === other || (ofGuardians.has(one) && ofGuardians.has(other));

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
    found.push(...relatives.filter((one) => isSameProgram(one.name, name) && !found.includes(one)));
  }
  return found;
}

export interface SurveyRequest {
  readonly uid: number;
  /** A variable of the environment that a process was started with. */
  readonly variable: string;
  /** Without symbolic links in them. */
  readonly directories: readonly string[];
}

/** What a process was started with, or where it stands now; either can be somebody else's doing. */
export interface Trace {
  readonly process: SeenProcess;
  readonly value: string | undefined;
  readonly directory: string | undefined;
}

export interface Survey {
  readonly processes: readonly SeenProcess[];
  readonly traces: readonly Trace[];
  readonly looked: number;
  /** Of this user, and not to be looked into: they have ended meanwhile, changed their user, or are too many. */
  readonly skipped: readonly number[];
}

/** Nobody waits for more: at some ten microseconds each, this is a fraction of a second. */
const mostLooked = 20_000;
const environmentBytes = 131_072;

export function surveyed(proc: ProcReader, procRoot: string, request: SurveyRequest): Survey {
  const processes = listProcesses(proc, procRoot);
  const own = processes.filter(({ uid, isHollow }) => uid === request.uid && !isHollow);
  const buffer = Buffer.allocUnsafe(environmentBytes);
  const traces: Trace[] = [];
  const skipped = own.slice(mostLooked).map(({ pid }) => pid);
  let looked = 0;
  for (const process of own.slice(0, mostLooked)) {
    try {
      const directory = `${procRoot}/${process.pid}`;
      const value = variableIn(buffer.subarray(0, proc.read(`${directory}/environ`, buffer)), request.variable);
      const at = enclosing(proc.link(`${directory}/cwd`), request.directories);
      looked += 1;
      if (value !== undefined || at !== undefined) traces.push({ process, value, directory: at });
    } catch {
      // It has ended, or is not ours to look into.
      skipped.push(process.pid);
    }
  }
  return { processes, traces, looked, skipped };
}

function variableIn(environment: Buffer, name: string): string | undefined {
  const entry = environment
    .toString('latin1')
    .split('\0')
    .find((one) => one.startsWith(`${name}=`));
  return entry?.slice(name.length + 1);
}

/** A directory that was removed from under a process is shown with a word behind it (proc_pid_cwd(5)). */
const enclosing = (cwd: string, directories: readonly string[]): string | undefined =>
  directories.find((one) => cwd === one || cwd.startsWith(`${one}/`) || cwd === `${one} (deleted)`);
