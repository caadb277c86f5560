import { closeSync, fchmodSync, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { EvidenceUnavailableError } from './errors.ts';

/** Files that take a workload's output directly, so that no process has to live for it to be kept. */
export interface CaptureFiles {
  /** For the workload's stdin, stdout and stderr; valid until `close`. */
  readonly stdio: readonly [number, number, number];
  readonly stdoutPath: string;
  readonly stderrPath: string;
  /** Closes our copies, once the guardian has been spawned. */
  close(): void;
}

function openPrivate(path: string): number {
  const file = openSync(path, 'ax', 0o600); // O_APPEND: several writers share the file and none overwrites another
  fchmodSync(file, 0o600);
  return file;
}

/**
 * Opens `stdout.log` and `stderr.log` in the scope directory, new and private, and /dev/null for stdin. At once, and not
 * through the thread pool: a launch waits for it, and five ways there and back take longer than the calls.
 */
export function captureFiles(scopeDir: string): CaptureFiles {
  const stdoutPath = join(scopeDir, 'stdout.log');
  const stderrPath = join(scopeDir, 'stderr.log');
  const opened: number[] = [];
  const close = () => {
    for (const file of opened) closeSync(file);
  };
  try {
    opened.push(openSync('/dev/null', 'r'));
    opened.push(openPrivate(stdoutPath));
    opened.push(openPrivate(stderrPath));
  } catch (error) {
    close();
    if (opened.length > 1) removed(stdoutPath);
    throw new EvidenceUnavailableError(error);
  }
  const [stdin, stdout, stderr] = opened;
  return { stdio: [stdin!, stdout!, stderr!], stdoutPath, stderrPath, close };
}

function removed(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // What could not be made may not be removable either.
  }
}
