/**
 * Which processes have to do with a directory at this moment: those that stand in it, have it for their root, hold a file
 * of it open or have one mapped (proc_pid_cwd(5), proc_pid_fd(5), proc_pid_maps(5)). For looks that somebody asks for: it
 * costs several reads for each process of the machine. Nobody found means that nobody was seen, and nothing more (OBS-09):
 * a file can be opened by its path in the next moment.
 */
import { readdirSync, readlinkSync } from 'node:fs';
import { listProcesses, type SeenProcess, sameProgram } from './census.ts';
import { errnoOf, isGone } from './errno.ts';
import { aliasesOf, parseMounts, type Whereabouts, whereaboutsOf } from './mountAliases.ts';
import type { ProcReader } from './proc.ts';

export type Hold = 'cwd' | 'root' | 'open' | 'mapped';

export interface Occupant {
  readonly process: SeenProcess;
  readonly holds: readonly Hold[];
}

export interface OccupantsRequest {
  /** Without symbolic links in it. */
  readonly directory: string;
  /** No further process is begun after so many, or so long (ms). */
  readonly most: number;
  readonly budgetMs: number;
  /** Processes that, with all that their programs consist of, nobody is meant to look into. */
  readonly sparing: Iterable<number>;
  readonly monoMs: () => number;
}

export interface Occupants {
  readonly occupants: readonly Occupant[];
  readonly looked: number;
  /** Could not be looked into: they belong to others, hide themselves, or came after the bounds. */
  readonly unseen: readonly SeenProcess[];
}

/**
 * Looks into one process with each step, so that whoever drives it can do something else in between; the last step
 * returns what was found. Processes that have ended meanwhile hold nothing and count as looked into.
 */
export function* occupantsBelow(
  proc: ProcReader,
  procRoot: string,
  { directory, most, budgetMs, sparing, monoMs }: OccupantsRequest,
): Generator<void, Occupants> {
  const until = monoMs() + budgetMs;
  const where = whereaboutsOf(parseMounts(proc.text(`${procRoot}/self/mountinfo`)), directory);
  const seers = new Map<string, Seer>();
  const occupants: Occupant[] = [];
  const unseen: SeenProcess[] = [];
  let looked = 0;
  const processes = listProcesses(proc, procRoot).filter(({ isHollow }) => !isHollow);
  for (const [at, process] of processes.entries()) {
    if (at >= most || monoMs() >= until) {
      unseen.push(...processes.slice(at));
      break;
    }
    const place = { proc, at: `${procRoot}/${process.pid}` };
    const holds = lookInto(place, () => seerOf(place, seers, { directory, where }));
    if (holds === 'unseen') unseen.push(process);
    else {
      looked += 1;
      if (holds.length > 0) occupants.push({ process, holds });
    }
    yield;
  }
  const spared = new Set([...sparing].flatMap((pid) => sameProgram(processes, pid)));
  return { occupants, looked, unseen: unseen.filter((one) => !spared.has(one)) };
}

/** Whether a path is the directory or below it, as processes of one mount namespace spell it. */
interface Seer {
  readonly isBelow: (path: string) => boolean;
  readonly isMappedBelow: (maps: string) => boolean;
}

interface Place {
  readonly proc: ProcReader;
  /** The directory of the process in procfs. */
  readonly at: string;
}

function lookInto({ proc, at }: Place, seer: () => Seer): readonly Hold[] | 'unseen' {
  try {
    const { isBelow, isMappedBelow } = seer();
    const holds: Hold[] = [];
    if (isBelow(proc.link(`${at}/cwd`))) holds.push('cwd');
    if (isBelow(proc.link(`${at}/root`))) holds.push('root');
    if (descriptorsOf(at).some(isBelow)) holds.push('open');
    if (isMappedBelow(proc.text(`${at}/maps`))) holds.push('mapped');
    return holds;
  } catch (error) {
    if (errnoOf(error) === '') throw error;
    return hasEnded({ proc, at }) ? [] : 'unseen';
  }
}

/** A first thread that has ended before the others shows no files; they still have some, so such a process goes on. */
function hasEnded({ proc, at }: Place): boolean {
  try {
    const status = proc.text(`${at}/status`);
    return /^State:\t[ZX]/m.test(status) && /^Threads:\t[01]$/m.test(status);
  } catch (error) {
    return isGone(errnoOf(error));
  }
}

function descriptorsOf(at: string): string[] {
  return readdirSync(`${at}/fd`).flatMap((descriptor) => {
    try {
      return [readlinkSync(`${at}/fd/${descriptor}`)];
    } catch (error) {
      if (isGone(errnoOf(error))) return []; // closed meanwhile
      throw error;
    }
  });
}

interface Directory {
  readonly directory: string;
  readonly where: Whereabouts | undefined;
}

/** Made once for each mount namespace. The plain path is always looked for: a descriptor may come from elsewhere. */
function seerOf({ proc, at }: Place, known: Map<string, Seer>, { directory, where }: Directory): Seer {
  const namespace = proc.link(`${at}/ns/mnt`);
  const found = known.get(namespace);
  if (found !== undefined) return found;
  const aliases = where === undefined ? [] : aliasesOf(parseMounts(proc.text(`${at}/mountinfo`)), where);
  const made = seer([...new Set([directory, ...aliases])]);
  known.set(namespace, made);
  return made;
}

function seer(spellings: readonly string[]): Seer {
  // In mappings the path lasts until the end of the line, and its line feeds are octal digits; the bytes come as letters.
  const mapped = spellings.map((one) => Buffer.from(one.replaceAll('\n', '\\012')).toString('latin1'));
  return {
    // Of what was removed meanwhile the kernel shows the last name with a word behind it.
    isBelow: (path) =>
      spellings.some((one) => path === one || path.startsWith(`${one}/`) || path === `${one} (deleted)`),
    isMappedBelow: (maps) => mapped.some((one) => maps.includes(` ${one}/`)),
  };
}
