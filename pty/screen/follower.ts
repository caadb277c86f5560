/**
 * Reads a transcript forward while it is being written: what to feed to a screen next, and when it changes size. It reads
 * with blocking calls and belongs into a thread where nobody waits for the event loop.
 */
import { closeSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { openOwnFile } from '../transcript/files.ts';
import { indexName, segmentNumber, segmentStart } from '../transcript/layout.ts';
import { type RawPlace, RawReader } from '../transcript/rawReader.ts';
import { decodeRecord, type TranscriptRecord } from '../transcript/records.ts';

export interface FollowPlace {
  /** Next byte of the raw output. */
  readonly offset: number;
  /** Next byte of the index; 0 is the header. */
  readonly indexAt: number;
  /** End of the output that the lines before `indexAt` speak of: where a line without an offset belongs. */
  readonly passedTo: number;
}

export const fromStart: FollowPlace = { offset: 0, indexAt: 0, passedTo: 0 };

export type Step =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'resize'; readonly cols: number; readonly rows: number }
  /** Bytes that nobody will ever see: refused by the disk, or dropped before they were read. */
  | { readonly kind: 'lost'; readonly bytes: number }
  /** Nothing more is there for now. */
  | { readonly kind: 'end' };

const indexChunkBytes = 64 * 1024;

export class Follower {
  readonly #place: RawPlace;
  readonly #raw: RawReader;
  #indexFd: number | undefined;
  #offset: number;
  #passedTo: number;
  /** Where the line after the buffered ones begins, and the lines that are read but not passed. */
  #indexAt: number;
  #buffered: Buffer = Buffer.alloc(0);

  constructor(place: RawPlace, start: FollowPlace) {
    this.#place = place;
    this.#raw = new RawReader(place);
    this.#offset = start.offset;
    this.#indexAt = start.indexAt;
    this.#passedTo = start.passedTo;
  }

  get place(): FollowPlace {
    return { offset: this.#offset, indexAt: this.#indexAt, passedTo: this.#passedTo };
  }

  /**
   * The next step towards `target`, at most `buffer` full. The bytes are part of `buffer` and last until the next call.
   * Throws TranscriptRangeError for a file that is not ours.
   */
  next(target: number, buffer: Uint8Array): Step {
    let limit = Math.min(target, this.#offset + buffer.length);
    for (let record = this.#peek(); record !== undefined; record = this.#peek()) {
      if (record.kind === 'output') {
        if (record.end > limit) break;
      } else if (record.kind === 'resize' || record.kind === 'gap') {
        const at = record.kind === 'gap' ? Math.max(record.offset, this.#passedTo) : this.#passedTo;
        if (at > this.#offset) {
          limit = Math.min(limit, at);
          break;
        }
        this.#pass();
        if (record.kind === 'gap') return { kind: 'lost', bytes: record.lostBytes };
        return { kind: 'resize', cols: record.cols, rows: record.rows };
      }
      if (record.kind === 'output') this.#passedTo = record.end;
      this.#pass();
    }
    return limit > this.#offset ? this.#read(limit, buffer) : { kind: 'end' };
  }

  /** Lets the files go until the next step; an idle session holds none open. */
  rest(): void {
    this.#raw.close();
    if (this.#indexFd !== undefined) closeSync(this.#indexFd);
    this.#indexFd = undefined;
  }

  #read(limit: number, buffer: Uint8Array): Step {
    const bytes = this.#raw.readSync(this.#offset, buffer.subarray(0, limit - this.#offset));
    if (bytes > 0) {
      this.#offset += bytes;
      return { kind: 'bytes', bytes: buffer.subarray(0, bytes) };
    }
    const next = this.#nextStored();
    if (next === undefined) return { kind: 'end' };
    const lost = next - this.#offset;
    this.#offset = next;
    return { kind: 'lost', bytes: lost };
  }

  /** Where bytes go on when those at hand have been dropped. */
  #nextStored(): number | undefined {
    const { dir, segmentBytes } = this.#place;
    const starts = readdirSync(dir)
      .map(segmentNumber)
      .filter((number) => number !== undefined)
      .map((number) => segmentStart(number, segmentBytes))
      .filter((start) => start > this.#offset);
    return starts.length === 0 ? undefined : Math.min(...starts);
  }

  #lineEnd(): number {
    return this.#buffered.indexOf(0x0a);
  }

  #peek(): TranscriptRecord | undefined {
    for (;;) {
      if (this.#lineEnd() < 0 && !this.#readIndex()) return undefined;
      const end = this.#lineEnd();
      if (end < 0) continue;
      const record = decodeRecord(this.#buffered.toString('utf8', 0, end));
      if (record !== undefined) return record;
      this.#pass();
    }
  }

  #pass(): void {
    const length = this.#lineEnd() + 1;
    this.#buffered = this.#buffered.subarray(length);
    this.#indexAt += length;
  }

  /** True when there was something to read. */
  #readIndex(): boolean {
    if (this.#indexFd === undefined) {
      const opened = openOwnFile(join(this.#place.dir, indexName));
      if ('problem' in opened) return false;
      this.#indexFd = opened.fd;
    }
    const chunk = Buffer.allocUnsafe(indexChunkBytes);
    const bytes = readSync(this.#indexFd, chunk, 0, chunk.length, this.#indexAt + this.#buffered.length);
    if (bytes === 0) return false;
    this.#buffered = Buffer.concat([this.#buffered, chunk.subarray(0, bytes)]);
    return true;
  }
}
