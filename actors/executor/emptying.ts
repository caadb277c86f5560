/**
 * Removes what lies in a directory, through descriptors: no link is followed, no other mount is entered, and what cannot be
 * removed, or belongs to another user, is named and left. Whoever is interrupted begins again with what is there.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs';
import { errnoOf } from './files.ts';
import { at, mountOf, openDirectory } from './place.ts';

export interface Left {
  readonly path: string;
  /** `other_mount`, `other_owner`, or what the kernel said. */
  readonly reason: string;
}

interface Emptying {
  /** Called before each change. */
  readonly step: () => void;
  readonly left: Left[];
  /** The mount that everything has to lie on. */
  readonly mount: string;
  /** The open directory that is emptied, where what lies too deep is brought up to. */
  readonly top: number;
}

/** Each level takes a descriptor; soft limits begin at 256. */
const deepest = 64;
/** More would only be counted. */
const mostNamed = 100;

/** O_PATH (open(2)): names a directory that may not be read. */
const pathOnly = 0o10000000;

/** `directory` is open, and stays; `shown` is how it is called in what is left. `step` is called before each change. */
export function emptyWholly(
  directory: number,
  { shown, step }: { readonly shown: string; readonly step: () => void },
): { readonly left: readonly Left[] } {
  const emptying: Emptying = { step, left: [], mount: mountOf(directory), top: directory };
  // What was brought up lies in it now.
  while (emptying.left.length === 0 && namesIn(directory).length > 0) empty(emptying, { directory, shown, depth: 0 });
  return emptying;
}

const namesIn = (directory: number): Buffer[] =>
  readdirSync(at(directory, '.'), { encoding: 'buffer' }) as unknown as Buffer[];

interface Level {
  readonly directory: number;
  readonly shown: string;
  readonly depth: number;
}

interface Entry extends Level {
  readonly name: Buffer;
}

function empty(emptying: Emptying, { directory, shown, depth }: Level): void {
  openUp(directory);
  for (const name of namesIn(directory)) {
    removeEntry(emptying, { directory, name, shown: `${shown}/${name.toString('utf8')}`, depth });
  }
}

function removeEntry(emptying: Emptying, entry: Entry): void {
  const { directory, name, shown } = entry;
  try {
    const found = lstatSync(at(directory, name));
    // No seal speaks for what another user's process has made here; being allowed to remove it (root is) is no reason.
    if (found.uid !== process.geteuid?.()) leave(emptying, shown, 'other_owner');
    else if (found.isDirectory()) {
      removeDirectory(emptying, entry);
    } else {
      emptying.step();
      unlinkSync(at(directory, name));
    }
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'unknown') throw error;
    // Somebody who runs at the same time with the same ticket was faster.
    if (errno !== 'ENOENT') leave(emptying, shown, errno.toLowerCase());
  }
}

function removeDirectory(emptying: Emptying, entry: Entry): void {
  const { directory, name, depth } = entry;
  if (depth >= deepest) bringUp(emptying, entry);
  else if (isEmptied(emptying, entry)) {
    emptying.step();
    rmdirSync(at(directory, name));
  }
}

function isEmptied(emptying: Emptying, { directory, name, shown, depth }: Entry): boolean {
  const leftBefore = emptying.left.length;
  const below = openAnyway(directory, name);
  try {
    if (mountOf(below) === emptying.mount) empty(emptying, { directory: below, shown, depth: depth + 1 });
    else leave(emptying, shown, 'other_mount');
  } finally {
    closeSync(below);
  }
  return emptying.left.length === leftBefore;
}

/** To be emptied with the depth of the top; a mount point cannot be moved. */
function bringUp({ top, step }: Emptying, { directory, name }: Entry): void {
  const { ino } = lstatSync(at(directory, name), { bigint: true });
  step();
  renameSync(at(directory, name), at(top, `deep-${ino}-${process.pid}`));
}

/** A directory that its owner may not read or change is opened up first: package caches are read-only. */
function openAnyway(parent: number, name: Buffer): number {
  try {
    return openDirectory(parent, name);
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') throw error;
  }
  const { O_DIRECTORY, O_NOFOLLOW } = constants;
  const named = openSync(at(parent, name), pathOnly | O_DIRECTORY | O_NOFOLLOW);
  try {
    chmodSync(`/proc/self/fd/${named}`, 0o700);
  } finally {
    closeSync(named);
  }
  return openDirectory(parent, name);
}

function openUp(directory: number): void {
  const { uid, mode } = fstatSync(directory);
  if (uid === process.geteuid?.() && (mode & 0o700) !== 0o700) fchmodSync(directory, 0o700);
}

function leave({ left }: Emptying, path: string, reason: string): void {
  if (left.length < mostNamed) left.push({ path, reason });
}
