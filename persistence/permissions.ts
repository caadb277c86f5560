/**
 * Directory 0700 and files 0600, owned by the user, whatever the umask says (JRN-08). What others could only read is
 * repaired; what others could have written is refused, because nobody can tell what they wrote.
 */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { StoreError, storeErrorOf } from './errors.ts';
import type { StoreWarning } from './filesystem.ts';

const othersAny = 0o077;
const othersWrite = 0o022;

/** Makes or checks the state directory. Throws `store_missing` when it is absent and may not be made. */
export function privateDirectory(path: string, create: boolean): StoreWarning[] {
  let info = statusOf(path, statSync);
  if (info === undefined) {
    if (!create) throw new StoreError('store_missing', `there is no state directory at ${path}`);
    makeDirectories(path);
    info = statusOf(path, statSync);
    // A link, say to a disk that is not mounted at present; nothing is made behind it.
    if (info === undefined) throw new StoreError('store_missing', `${path} leads to a directory that is not there`);
  }
  if (!info.isDirectory()) throw new StoreError('store_permissions', `${path} is not a directory`);
  refuseForeign(path, info);
  refuseUnusable(path, info, 0o700);
  refuseReadOnly(path);
  if ((info.mode & othersAny) === 0) return [];
  if ((info.mode & othersWrite) !== 0 && readdirSync(path).length > 0) {
    throw new StoreError(
      'store_permissions',
      `others may write into ${path}: look at what is in it before making it private`,
    );
  }
  chmodSync(path, 0o700);
  return [repaired(path)];
}

/** SQLite would say that it cannot open its file, which helps nobody; access(2) names the reason, also to root. */
function refuseReadOnly(path: string): void {
  try {
    accessSync(path, constants.W_OK);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EROFS') return;
    throw new StoreError('store_readonly', `the file system of ${path} is mounted read-only`, thrown);
  }
}

/** Checks one file of the store; an absent one is fine. Looks by path only: opening it would cost SQLite its lock. */
export function privateFile(path: string): StoreWarning[] {
  const info = statusOf(path, lstatSync);
  if (info === undefined) return [];
  if (!info.isFile()) throw new StoreError('store_permissions', `${path} is not a regular file`);
  refuseForeign(path, info);
  // SQLite opens what it may not write for reading only, and says so at the first write.
  refuseUnusable(path, info, 0o600);
  if (info.nlink !== 1) throw new StoreError('store_permissions', `${path} has a second name; remove the other link`);
  if ((info.mode & othersWrite) !== 0) {
    throw new StoreError(
      'store_permissions',
      `others may write to ${path}: restore a backup, or chmod 600 if you trust it`,
    );
  }
  if ((info.mode & othersAny) === 0) return [];
  chmodSync(path, 0o600);
  return [repaired(path)];
}

/** Makes an empty 0600 file; returns false when the name is taken. Never opens an existing file. */
export function createPrivateFile(path: string): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'wx', 0o600);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw storeErrorOf(thrown) ?? thrown;
  }
  try {
    // The umask may have taken the owner's own bits away.
    fchmodSync(descriptor, 0o600);
  } finally {
    closeSync(descriptor);
  }
  return true;
}

/** Makes a new or renamed entry of a directory survive a power loss (fsync(2): the entry is not part of the file). */
export function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function exists(path: string): boolean {
  return statusOf(path, lstatSync) !== undefined;
}

/** One at a time from the top: under a umask of 777 a recursive mkdir could not enter what it has just made. */
function makeDirectories(path: string): void {
  const parent = dirname(path);
  if (parent !== path && statusOf(parent, statSync) === undefined) makeDirectories(parent);
  try {
    mkdirSync(path, 0o700);
    chmodSync(path, 0o700);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw storeErrorOf(thrown) ?? new StoreError('store_io', `${path} cannot be made`, thrown);
  }
}

function statusOf(path: string, look: (path: string) => Stats): Stats | undefined {
  try {
    return look(path);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'ENOTDIR') throw new StoreError('store_permissions', `a part of ${path} is not a directory`, thrown);
    throw storeErrorOf(thrown) ?? new StoreError('store_io', `${path} cannot be examined`, thrown);
  }
}

function refuseForeign(path: string, info: Stats): void {
  const user = process.geteuid?.();
  if (user !== undefined && info.uid !== user) {
    throw new StoreError('store_permissions', `${path} belongs to user ${info.uid}, not to user ${user}`);
  }
}

function refuseUnusable(path: string, { mode }: Stats, needed: number): void {
  if ((mode & needed) !== needed) {
    throw new StoreError('store_permissions', `${path} is protected against its own user: chmod ${needed.toString(8)}`);
  }
}

function repaired(path: string): StoreWarning {
  return { code: 'permissions_repaired', message: `${path} was readable by others and is private again` };
}
