/**
 * Removes what lies below a directory of ours, by names that the caller knows (RET-04). No link is ever followed: every
 * directory on the way is opened without following one, and everything below is reached through that descriptor (proc(5),
 * /proc/self/fd), so that nobody can put another directory in its place meanwhile. Nothing on another file system and
 * nothing of another user is touched.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { OperatingError } from './operatingError.ts';

export interface Removed {
  /** Of the files that are gone now. */
  readonly bytes: number;
  /** False when the budget was used up before the end. */
  readonly isDone: boolean;
}

/** Entries that one call removes at most. */
export const entriesPerCall = 256;
/** Deeper than anything that we make. */
const deepest = 8;

interface Budget {
  left: number;
  bytes: number;
  readonly dev: bigint;
}

/**
 * `[...directories, name]` below `root`: a file or a directory with everything in it. Nothing there is no error. Throws
 * `removal_refused` (exit 9) where a link, another user's directory or another file system is in the way.
 */
export function removeBelow(root: string, names: readonly string[]): Removed {
  for (const name of names) assertPlain(name);
  const opened: number[] = [openSync(root, constants.O_RDONLY | constants.O_DIRECTORY)];
  try {
    const budget: Budget = { left: entriesPerCall, bytes: 0, dev: fstatSync(opened[0]!, { bigint: true }).dev };
    for (const name of names.slice(0, -1)) {
      const next = openBelow(opened.at(-1)!, name, budget);
      if (next === undefined) return { bytes: 0, isDone: true };
      opened.push(next);
    }
    const isDone = removeEntry({ directory: opened.at(-1)!, name: names.at(-1)! }, budget);
    return { bytes: budget.bytes, isDone };
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

interface Entry {
  readonly directory: number;
  readonly name: string;
}

const at = (directory: number, name: string): string => `/proc/self/fd/${directory}/${name}`;

function assertPlain(name: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/.test(name)) throw refused(name, 'is no name that we give');
}

/** Undefined when there is nothing of that name. */
function openBelow(directory: number, name: string, { dev }: Budget): number | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(at(directory, name), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP' || code === 'ENOTDIR') throw refused(name, 'is a link, or no directory');
    throw error;
  }
  const found = fstatSync(descriptor, { bigint: true });
  if (found.dev === dev && Number(found.uid) === process.geteuid?.()) return descriptor;
  closeSync(descriptor);
  throw refused(name, 'is not ours, or on another file system');
}

/** Whether it is gone. */
function removeEntry({ directory, name }: Entry, budget: Budget, depth = 0): boolean {
  const found = lstatSync(at(directory, name), { throwIfNoEntry: false });
  if (found === undefined) return true;
  if (!found.isDirectory()) {
    if (budget.left <= 0) return false;
    unlinkSync(at(directory, name));
    budget.left -= 1;
    if (found.isFile() && found.nlink === 1) budget.bytes += found.size;
    return true;
  }
  if (depth >= deepest) throw refused(name, 'has more directories below it than we make');
  const inside = openBelow(directory, name, budget);
  if (inside === undefined) return true;
  try {
    for (const entry of readdirSync(`/proc/self/fd/${inside}`))
      if (!removeEntry({ directory: inside, name: entry }, budget, depth + 1)) return false;
  } finally {
    closeSync(inside);
  }
  rmdirSync(at(directory, name));
  return true;
}

const refused = (name: string, why: string): OperatingError =>
  new OperatingError({
    code: 'removal_refused',
    message: `${JSON.stringify(name)} ${why}: nothing of it is removed`,
    exitCode: 9,
    next: ['look at it, and move it away by hand'],
    details: { name },
  });
