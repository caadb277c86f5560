/** Files that a command writes for somebody else to use: whole, or as they were before. */
import { chmodSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { OperatingError } from '../actors/runtime/operatingError.ts';
import { usage } from './failure.ts';

/** Throws a usage error where the system does not let it be written. What a link leads to is replaced, and the link stays. */
export function writeWhole(path: string, text: string): void {
  try {
    const status = statSync(path, { throwIfNoEntry: false });
    // A pipe or a device has nothing that could be replaced.
    if (status !== undefined && !status.isFile()) writeFileSync(path, text);
    else if (status === undefined) replace(path, text);
    else replace(realpathSync(path), text, status.mode & 0o777);
  } catch (error) {
    throw unwritable(path, error as NodeJS.ErrnoException);
  }
}

function replace(path: string, text: string, mode?: number): void {
  const draft = `${path}.${process.pid}.new`;
  try {
    writeFileSync(draft, text, { flag: 'wx' });
    if (mode !== undefined) chmodSync(draft, mode);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Undefined where nothing is there. Throws a usage error. */
export function isFolder(path: string): boolean | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory();
  } catch (error) {
    throw unwritable(path, error as NodeJS.ErrnoException);
  }
}

/** With whatever lies above it. Throws a usage error. */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw unwritable(path, error as NodeJS.ErrnoException);
  }
}

export const unwritable = (path: string, error: NodeJS.ErrnoException): OperatingError =>
  usage(`--output ${path}: cannot be written (${error.code})`, ['--output PATH in a directory of yours']);
