/**
 * Terminals of which nothing may get to a disk (PRIV-02). What they say lies in memory while they are held, under the same
 * names that a transcript has, so that viewers and screens need no second way; and in its place on the disk a mark alone.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { OperatingError } from './operatingError.ts';
import type { Places } from './places.ts';

/** POSIX shared memory (shm_overview(7)): a tmpfs, which is gone with the machine's power. Like all memory it may be swapped out. */
const memory = '/dev/shm';
/** statfs(2). */
const tmpfs = 0x01021994;

const mebibyte = 1_048_576;
/** What one session may take; of what exceeds it the oldest goes. */
export const unrecordedSizes = { segmentBytes: 4 * mebibyte, maxBytes: 16 * mebibyte };

export const unrecordedMark = 'unrecorded';

type Place = Pick<Places, 'stateDir' | 'transcriptsDir'>;

/** Stays, empty, when everything in it is forgotten: a launch may be about to use it. */
export function unrecordedRoot({ stateDir }: Pick<Place, 'stateDir'>): string {
  const name = createHash('sha256').update(realpathSync(stateDir)).digest('hex').slice(0, 16);
  return join(memory, `custody-${process.getuid?.()}-${name}`);
}

/**
 * Undefined where there is none of ours. Anybody may make a directory in shared memory, also one of this name, and neither
 * what lies in it nor that it cannot be read may be taken for something that a session said.
 */
function ownRoot(place: Place): string | undefined {
  const root = unrecordedRoot(place);
  const found = lstatSync(root, { throwIfNoEntry: false });
  const isOwn = found?.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  return isOwn ? root : undefined;
}

/** Where what the session says is, or would be. */
export function transcriptDirOf(places: Place, sessionId: string): string {
  const root = ownRoot(places);
  const held = root && join(root, sessionId);
  return held && existsSync(held) ? held : join(places.transcriptsDir, sessionId);
}

/** Throws `memory_unavailable` (exit 8) where there is none that files could lie in. */
export function assertMemory(): void {
  try {
    if (statfsSync(memory).type === tmpfs) return;
  } catch {
    // Said below.
  }
  throw unavailable(`${memory} is no tmpfs`, `mount -t tmpfs tmpfs ${memory}`);
}

/** Returns the directory that the transcript is to be made in. Throws as `assertMemory` does, and what the file system says. */
export function prepareUnrecorded(places: Place, sessionId: string): string {
  assertMemory();
  const root = unrecordedRoot(places);
  makeDirectory(root);
  if (ownRoot(places) === undefined) throw unavailable(`${root} is not private to this user`, `remove ${root}`);
  const mark = join(places.transcriptsDir, sessionId);
  mkdirSync(mark, { recursive: true, mode: 0o700 });
  writeFileSync(join(mark, unrecordedMark), '', { mode: 0o600 });
  return join(root, sessionId);
}

/** What is in the way already is looked at afterwards. */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Forgets what the session said. */
export function discardUnrecorded(places: Place, sessionId: string): void {
  const root = ownRoot(places);
  if (root !== undefined) rmSync(join(root, sessionId), { recursive: true, force: true });
}

/** Sessions of which something is still in memory. */
export function rememberedSessions(places: Place): string[] {
  const root = ownRoot(places);
  return root === undefined ? [] : readdirSync(root);
}

const unavailable = (why: string, wayOut: string): OperatingError =>
  new OperatingError({
    code: 'memory_unavailable',
    message: `a terminal that is not recorded needs memory to lie in: ${why}`,
    exitCode: 8,
    next: [wayOut, 'custody runs exec GOAL --pty --transcript -- CMD... records it on the disk'],
  });
