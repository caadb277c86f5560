/**
 * The index of a transcript, appended line by line. A line that the disk refuses waits here, and the next attempt goes on at
 * the very byte where the last one stopped, so that a full disk tears no line.
 */
import { closeSync, fdatasync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createPrivateFile } from './files.ts';
import { headerLine, indexName, type TranscriptHeader } from './layout.ts';
import { encodeRecord, type TranscriptRecord } from './records.ts';

/** So many records may wait for space; with more, the caller must stop storing bytes that nothing would explain. */
const maxWaiting = 256;

export class IndexFile {
  readonly #fd: number;
  #waiting: TranscriptRecord[] = [];
  #torn: Uint8Array = new Uint8Array(0);

  /** Creates the file with its header; throws what the kernel says. */
  constructor(dir: string, header: TranscriptHeader) {
    this.#fd = createPrivateFile(join(dir, indexName));
    this.#torn = Buffer.from(headerLine(header));
    const error = this.flush();
    if (error === undefined) return;
    closeSync(this.#fd);
    throw error;
  }

  get isFull(): boolean {
    return this.#waiting.length >= maxWaiting;
  }

  get isWritten(): boolean {
    return this.#waiting.length === 0 && this.#torn.length === 0;
  }

  /** Takes a record; of two in a row that say the same kind of thing and still wait, the later one is enough. */
  push(record: TranscriptRecord): void {
    const last = this.#waiting.at(-1);
    const replaces = last?.kind === record.kind && (record.kind === 'output' || record.kind === 'resize');
    if (replaces) this.#waiting[this.#waiting.length - 1] = record;
    else this.#waiting.push(record);
  }

  /** Writes what waits. Returns what the kernel says to the rest; never throws. */
  flush(): unknown {
    try {
      while (!this.isWritten) {
        if (this.#torn.length === 0) {
          this.#torn = Buffer.from(this.#waiting.map(encodeRecord).join(''));
          this.#waiting = [];
        }
        this.#torn = this.#torn.subarray(writeSync(this.#fd, this.#torn));
      }
      return undefined;
    } catch (error) {
      return error;
    }
  }

  sync(): Promise<void> {
    return new Promise((resolve, reject) => fdatasync(this.#fd, (error) => (error ? reject(error) : resolve())));
  }

  close(): void {
    closeSync(this.#fd);
  }
}
