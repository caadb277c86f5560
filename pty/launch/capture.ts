import type { FileHandle } from 'node:fs/promises';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { EvidenceUnavailableError } from './errors.ts';

/** Files that take a workload's output directly, so that no process has to live for it to be kept. */
export interface CaptureFiles {
  /** For the workload's stdin, stdout and stderr; valid until `close`. */
  readonly stdio: readonly [number, number, number];
  readonly stdoutPath: string;
  readonly stderrPath: string;
  /** Closes our copies, once the guardian has been spawned. */
  close(): Promise<void>;
}

async function openPrivate(path: string): Promise<FileHandle> {
  const file = await open(path, 'ax', 0o600); // O_APPEND: several writers share the file and none overwrites another
  await file.chmod(0o600);
  return file;
}

/** Opens `stdout.log` and `stderr.log` in the scope directory, new and private, and /dev/null for stdin. */
export async function captureFiles(scopeDir: string): Promise<CaptureFiles> {
  const stdoutPath = join(scopeDir, 'stdout.log');
  const stderrPath = join(scopeDir, 'stderr.log');
  const opened: FileHandle[] = [];
  try {
    opened.push(await open('/dev/null', 'r'));
    opened.push(await openPrivate(stdoutPath));
    opened.push(await openPrivate(stderrPath));
  } catch (error) {
    for (const file of opened) await file.close();
    if (opened.length > 1) await unlink(stdoutPath).catch(() => undefined);
    throw new EvidenceUnavailableError(error);
  }
  const [stdin, stdout, stderr] = opened.map((file) => file.fd);
  return {
    stdio: [stdin!, stdout!, stderr!],
    stdoutPath,
    stderrPath,
    close: async () => {
      for (const file of opened) await file.close();
    },
  };
}
