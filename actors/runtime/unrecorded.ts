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

/** Where what the session says is, or would be. */
export function transcriptDirOf(places: Place, sessionId: string): string {
  const held = join(unrecordedRoot(places), sessionId);
  return existsSync(held) ? held : join(places.transcriptsDir, sessionId);
}

/** Throws `memory_unavailable` (exit 8) where there is none that files could lie in. */
export function assertMemory(): void {
  try {
    if (statfsSync(memory).type === tmpfs) return;
  } catch {
    // Said below.
  }
  throw unavailable(`${memory} is no tmpfs`);
}

/** Returns the directory that the transcript is to be made in. Throws as `assertMemory` does, and what the file system says. */
export function prepareUnrecorded(places: Place, sessionId: string): string {
  assertMemory();
  const root = unrecordedRoot(places);
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const found = lstatSync(root);
  // Anybody may make a directory there, also one of this name.
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) {
    throw unavailable(`${root} is not private to this user`);
  }
  const mark = join(places.transcriptsDir, sessionId);
  mkdirSync(mark, { recursive: true, mode: 0o700 });
  writeFileSync(join(mark, unrecordedMark), '', { mode: 0o600 });
  return join(root, sessionId);
}

/** Forgets what the session said. */
export const discardUnrecorded = (places: Place, sessionId: string): void =>
  rmSync(join(unrecordedRoot(places), sessionId), { recursive: true, force: true });

/** Sessions of which something is still in memory. */
export function rememberedSessions(places: Place): string[] {
  const root = unrecordedRoot(places);
  return existsSync(root) ? readdirSync(root) : [];
}

const unavailable = (why: string): OperatingError =>
  new OperatingError({
    code: 'memory_unavailable',
    message: `a terminal that is not recorded needs memory to lie in: ${why}`,
    exitCode: 8,
    next: [`mount -t tmpfs tmpfs ${memory}`, 'launch it with a transcript'],
  });
