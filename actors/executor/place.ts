/**
 * Which directory lies under a name, looked at through descriptors: whoever swaps a link in between finds that it was not
 * followed. `at` spells a name below an open directory (proc(5), /proc/self/fd), as openat(2) would.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { type DirectoryIdentity, directoryIdentity, isSameDirectory } from '../../machines/directory.ts';
import { errnoOf } from './files.ts';
import type { Ticket } from './ticket.ts';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** File names are bytes, and need not be text. */
export const at = (directory: number, name: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`/proc/self/fd/${directory}/`), Buffer.from(name)]);

export interface Found extends DirectoryIdentity {
  readonly uid: number;
}

/** Follows links on the way to it: what counts is what lies in it. */
export const openParent = (path: string): number => openSync(path, O_RDONLY | O_DIRECTORY);

/** A descriptor of the directory under this name, itself no link. Throws ENOENT, ENOTDIR, ELOOP, EACCES. */
export const openDirectory = (parent: number, name: string | Buffer): number =>
  openSync(at(parent, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);

export function foundAt(directory: number): Found {
  const status = fstatSync(directory, { bigint: true });
  return { ...directoryIdentity(status), uid: Number(status.uid) };
}

/** Runs `use` with the directory under this name, or answers undefined where none is there. */
export function withDirectory<T>(parent: number, name: string, use: (directory: number) => T): T | undefined {
  let directory: number;
  try {
    directory = openDirectory(parent, name);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(error))) return undefined;
    throw error;
  }
  try {
    return use(directory);
  } finally {
    closeSync(directory);
  }
}

export const isTicketed = (directory: number, { fsIdentity }: Pick<Ticket, 'fsIdentity'>): boolean =>
  isSameDirectory(foundAt(directory), fsIdentity);

/** Where `.git` of the worktree leads; undefined where it does not say. `path` is what relative pointers are relative to. */
export function gitDirectoryIn(worktree: number, path: string): string | undefined {
  let pointer: string | undefined;
  try {
    const file = openSync(at(worktree, '.git'), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      if (!fstatSync(file).isFile()) return undefined;
      const buffer = Buffer.alloc(8_192);
      pointer = /^gitdir: (.+?)\n?$/s.exec(
        buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, 0)),
      )?.[1];
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
  if (pointer === undefined) return undefined;
  const target = resolve(path, pointer);
  try {
    return realpathSync(target);
  } catch {
    return target;
  }
}

/** The mount that a descriptor lies on (proc_pid_fdinfo(5)): a bind mount has the device of what is around it. */
export function mountOf(descriptor: number): string {
  const text = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
  return /^mnt_id:\s*(\d+)$/m.exec(text)?.[1] ?? '';
}

/** Mount points at or below a real path (proc_pid_mountinfo(5)), as this process sees them. */
export function mountsWithin(path: string): string[] {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) =>
      (line.split(' ')[4] ?? '').replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(parseInt(octal, 8))),
    );
  return points.filter((point) => point === path || point.startsWith(`${path}/`));
}
