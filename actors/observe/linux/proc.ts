import { closeSync, openSync, readlinkSync, readSync } from 'node:fs';

/**
 * The only way in which the adapter touches procfs. Reads are synchronous: procfs never waits for a disk, and a read
 * through the thread pool costs ten times as much. Every call is counted, so that a test can hold a pass to its budget,
 * and there is no way to list a directory.
 *
 * All calls throw Node's errno errors unchanged; what they mean is decided in one place (`errno.ts`).
 */
export interface ProcReader {
  /** Reads the start of a file into `into` and returns the number of bytes. */
  read(path: string, into: Buffer): number;
  /** Reads a whole small file as text, in as many reads as the kernel wants. */
  text(path: string): string;
  link(path: string): string;
  /** Keeps a file open for `readPinned`; the caller closes it. */
  open(path: string): number;
  /** Reads an open file again from its start. */
  readPinned(fd: number, into: Buffer): number;
  close(fd: number): void;
  /** Calls of read, text, link, open and readPinned so far. */
  readonly reads: number;
}

const TEXT_CHUNK_BYTES = 65_536;

class SynchronousReader implements ProcReader {
  reads = 0;
  readonly #chunk = Buffer.allocUnsafe(TEXT_CHUNK_BYTES);

  read(path: string, into: Buffer): number {
    this.reads += 1;
    const fd = openSync(path, 'r');
    try {
      return readSync(fd, into, 0, into.length, null);
    } finally {
      closeSync(fd);
    }
  }

  text(path: string): string {
    this.reads += 1;
    const fd = openSync(path, 'r');
    try {
      let text = '';
      for (;;) {
        const length = readSync(fd, this.#chunk, 0, this.#chunk.length, null);
        if (length === 0) return text;
        text += this.#chunk.toString('latin1', 0, length);
      }
    } finally {
      closeSync(fd);
    }
  }

  link(path: string): string {
    this.reads += 1;
    return readlinkSync(path);
  }

  open(path: string): number {
    this.reads += 1;
    return openSync(path, 'r');
  }

  readPinned(fd: number, into: Buffer): number {
    this.reads += 1;
    return readSync(fd, into, 0, into.length, 0);
  }

  close(fd: number): void {
    closeSync(fd);
  }
}

export function createProcReader(): ProcReader {
  return new SynchronousReader();
}
