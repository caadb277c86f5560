/** The three descriptors that a workload starts with: captured output, and standard input that leaves no file behind. */
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type CaptureFiles, captureFiles } from '../../../pty/launch/capture.ts';

interface Stdio extends Pick<CaptureFiles, 'stdio'> {
  close(): Promise<void> | void;
}

/** `stdin` may be a prompt: it goes through a file that has no name by the time anything is written to it (PRIV-01). */
export async function openStdio(scopeDir: string, stdin: Buffer | null): Promise<Stdio> {
  const files = captureFiles(scopeDir);
  if (stdin === null) return files;
  let input: FileHandle | undefined;
  try {
    input = await namelessFile(join(scopeDir, 'stdin.new'), stdin);
  } catch (error) {
    files.close();
    throw error;
  }
  const [, stdout, stderr] = files.stdio;
  const { fd } = input;
  return {
    stdio: [fd, stdout, stderr],
    close: async () => {
      await input.close();
      files.close();
    },
  };
}

/** Read from the start by whoever inherits it: a positioned write leaves the file offset at zero (pwrite(2)). */
async function namelessFile(path: string, content: Buffer): Promise<FileHandle> {
  const file = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    for (let written = 0; written < content.length; ) {
      written += (await file.write(content, written, content.length - written, written)).bytesWritten;
    }
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
