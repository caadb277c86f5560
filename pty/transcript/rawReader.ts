/** Reading stored bytes by offset, whichever segment they lie in. Offsets are bytes since the start of the session. */
import { closeSync, read, readSync } from 'node:fs';
import { TranscriptRangeError } from './errors.ts';
import { openOwnFile } from './files.ts';
import { segmentOf, segmentPath, segmentStart } from './layout.ts';

/** What it takes to find a byte; a header has it. */
export interface RawPlace {
  readonly dir: string;
  readonly segmentBytes: number;
}

const chunkBytes = 64 * 1024;

/** Keeps the segment of the last read open, because reads go forward. The caller closes it. */
export class RawReader {
  readonly #place: RawPlace;
  #number = 0;
  #fd: number | undefined;

  constructor(place: RawPlace) {
    this.#place = place;
  }

  /** Fills the start of `into` and says how far; 0 where nothing has been written yet. Throws TranscriptRangeError. */
  readSync(offset: number, into: Uint8Array): number {
    const found = this.#find(offset, into.length);
    return found === undefined ? 0 : readSync(found.fd, into, 0, found.length, found.position);
  }

  /** The same, without holding up the event loop. */
  async read(offset: number, into: Uint8Array): Promise<number> {
    const found = this.#find(offset, into.length);
    if (found === undefined) return 0;
    return new Promise((resolve, reject) => {
      read(found.fd, into, 0, found.length, found.position, (error, bytes) => (error ? reject(error) : resolve(bytes)));
    });
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #find(offset: number, wanted: number): { fd: number; position: number; length: number } | undefined {
    const { dir, segmentBytes } = this.#place;
    const number = segmentOf(offset, segmentBytes);
    if (this.#fd === undefined || this.#number !== number) {
      this.close();
      const opened = openOwnFile(segmentPath(dir, number));
      if ('problem' in opened) {
        if (opened.problem === 'missing') return undefined;
        throw new TranscriptRangeError(offset, new Error(opened.problem));
      }
      this.#fd = opened.fd;
      this.#number = number;
    }
    const position = offset - segmentStart(number, segmentBytes);
    return { fd: this.#fd, position, length: Math.min(wanted, segmentBytes - position) };
  }
}

/**
 * The bytes of [from, to) in pieces of at most 64 KiB, each in a buffer of its own. Never ends early: throws
 * TranscriptRangeError at the first byte that is not there. Memory stays bounded, and leaving the loop closes the file.
 */
export async function* readRange(place: RawPlace, from: number, to: number): AsyncGenerator<Buffer, void, undefined> {
  const reader = new RawReader(place);
  try {
    for (let offset = from; offset < to; ) {
      const piece = Buffer.allocUnsafe(Math.min(chunkBytes, to - offset));
      const bytes = await reader.read(offset, piece);
      if (bytes === 0) throw new TranscriptRangeError(offset);
      yield piece.subarray(0, bytes);
      offset += bytes;
    }
  } finally {
    reader.close();
  }
}
