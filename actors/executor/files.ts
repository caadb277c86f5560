/** Private files that are whole or not there: written beside their place, synced, and named in one step. */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

export const errnoOf = (error: unknown): string => (error as NodeJS.ErrnoException | undefined)?.code ?? 'unknown';
const hasErrno = (error: unknown, ...codes: readonly string[]): boolean => codes.includes(errnoOf(error));

export function syncDirectory(path: string): void {
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

function writeDraft(path: string, text: string): string {
  const draft = `${path}.new-${process.pid}`;
  rmSync(draft, { force: true });
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return draft;
}

/** Replaces what was there. */
export function writeWhole(path: string, text: string): void {
  renameSync(writeDraft(path, text), path);
  syncDirectory(dirname(path));
}

/** False where the name is taken; what is there stays. */
export function writeOnce(path: string, text: string): boolean {
  const draft = writeDraft(path, text);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
    syncDirectory(dirname(path));
  }
}

/** Undefined where there is none. Throws for what is no regular file of this user, and for more than `atMostBytes`. */
export function readOwn(path: string, atMostBytes: number): string | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
  try {
    const found = fstatSync(file);
    if (!found.isFile() || found.uid !== process.geteuid?.() || found.size > atMostBytes)
      throw Object.assign(new Error(`${path} is no private file of ours`), { code: 'EPERM' });
    const buffer = Buffer.alloc(found.size);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read)
      read = readSync(file, buffer, length, buffer.length - length, length);
    return buffer.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}

/** Makes it, or finds one that is private to this user. Throws what mkdir(2) says, and EPERM for somebody else's. */
export function privateDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!hasErrno(error, 'EEXIST')) throw error;
  }
  if (!isPrivateDirectory(path)) throw Object.assign(new Error(`${path} is not private`), { code: 'EPERM' });
}

/** A directory of this user that nobody else may write in, and no link to one. */
export function isPrivateDirectory(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.geteuid?.() && (found.mode & 0o077) === 0;
}
