/** Opening the files of a transcript so that nobody else's file is ever written or believed. */
import { closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync } from 'node:fs';

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** A new file of ours, 0600 whatever the umask says. Throws what the kernel says, EEXIST for a file or link in its place. */
export function createPrivateFile(path: string): number {
  const fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND, 0o600);
  try {
    fchmodSync(fd, 0o600);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

export type FileProblem = 'missing' | 'symlink' | 'foreignOwner' | 'notRegular' | 'unreadable';

export interface OpenedFile {
  readonly fd: number;
  readonly size: number;
}

/** Opens a file that is ours and a file, or says why not; a FIFO in its place blocks nobody. The caller closes `fd`. */
export function openOwnFile(path: string): OpenedFile | { readonly problem: FileProblem } {
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    return { problem: openProblem(error) };
  }
  const stat = fstatSync(fd);
  const problem = !stat.isFile() ? 'notRegular' : stat.uid !== process.geteuid?.() ? 'foreignOwner' : undefined;
  if (problem === undefined) return { fd, size: stat.size };
  closeSync(fd);
  return { problem };
}

/** What is wrong with a directory that should be ours and be no link. */
export function directoryProblem(dir: string): FileProblem | undefined {
  try {
    const stat = lstatSync(dir);
    if (stat.isSymbolicLink()) return 'symlink';
    if (!stat.isDirectory()) return 'notRegular';
    return stat.uid === process.geteuid?.() ? undefined : 'foreignOwner';
  } catch (error) {
    return openProblem(error);
  }
}

function openProblem(error: unknown): FileProblem {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'missing';
  if (code === 'ENXIO') return 'notRegular';
  return code === 'ELOOP' ? 'symlink' : 'unreadable';
}
