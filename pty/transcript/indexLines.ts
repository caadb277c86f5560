/** Cuts what is read of an index into lines; what has no line end yet may be half a line and waits. */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { openOwnFile } from './files.ts';
import { indexName } from './layout.ts';

/** No line that a writer makes comes near; an endless one must not fill the memory. */
const maxLineBytes = 64 * 1024;

export class IndexLines {
  #rest: Uint8Array = new Uint8Array(0);
  #isTooLong = false;

  /** True when something follows the last line end. */
  get isTorn(): boolean {
    return this.#rest.length > 0 || this.#isTooLong;
  }

  /** The whole lines up to here; a line beyond the limit comes as an empty one, which is no record. */
  feed(chunk: Uint8Array): string[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = bytes.lastIndexOf(0x0a) + 1;
    this.#rest = Uint8Array.prototype.slice.call(bytes, end);
    if (end === 0) {
      this.#limit();
      return [];
    }
    const lines = Buffer.from(bytes.buffer, bytes.byteOffset, end - 1)
      .toString('utf8')
      .split('\n');
    if (this.#isTooLong) lines[0] = '';
    this.#isTooLong = false;
    this.#limit();
    return lines;
  }

  #limit(): void {
    if (this.#rest.length <= maxLineBytes) return;
    this.#rest = new Uint8Array(0);
    this.#isTooLong = true;
  }
}

/**
 * The lines of an index, the header first, in groups as they were read. Returns whether it ends in half a line. Yields
 * nothing for an index that is missing or not ours: the caller has looked at that before.
 */
export async function* readIndexLines(dir: string): AsyncGenerator<string[], boolean, undefined> {
  const opened = openOwnFile(join(dir, indexName));
  if ('problem' in opened) return false;
  const lines = new IndexLines();
  // The stream closes the file, also when the loop is left early.
  for await (const chunk of createReadStream('', { fd: opened.fd, start: 0 })) yield lines.feed(chunk as Buffer);
  return lines.isTorn;
}
