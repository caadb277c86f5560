import { readdirSync, statSync } from 'node:fs';

/** Device and inode of a file, as fstat(2) has them. */
export interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/**
 * Whether a process has a file open, from what the links in its descriptor directory lead to (proc_pid_fd(5)). Undefined
 * when it does not let us look. A "no" holds for this moment only: the file may be handed over or opened anew.
 */
export function holdsOpen(procRoot: string, pid: number, file: FileIdentity): boolean | undefined {
  const directory = `${procRoot}/${pid}/fd`;
  let descriptors: string[];
  try {
    descriptors = readdirSync(directory);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? false : undefined;
  }
  return descriptors.some((descriptor) => {
    const found = statSync(`${directory}/${descriptor}`, { bigint: true, throwIfNoEntry: false });
    return found?.ino === file.ino && found.dev === file.dev;
  });
}
