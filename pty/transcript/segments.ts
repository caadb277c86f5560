/** The raw bytes of one session, written into segment after segment. Offsets count stored bytes since the start. */
import { close, closeSync, fdatasync, unlinkSync, writevSync } from 'node:fs';
import { createPrivateFile } from './files.ts';
import { segmentOf, segmentPath, segmentStart } from './layout.ts';

export interface Written {
  /** Exactly what the kernel took, also when it then refused. */
  readonly bytes: number;
  readonly error?: unknown;
}

export class RawSegments {
  readonly #dir: string;
  readonly #segmentBytes: number;
  #fd: number | undefined;
  #offset = 0;
  #oldest = 1;
  /** Filled segments on their way to the disk: what is synced at the end need not wait for all of it. */
  readonly #syncing = new Set<Promise<void>>();

  /** Creates the first segment; throws what the kernel says. */
  constructor(dir: string, segmentBytes: number) {
    this.#dir = dir;
    this.#segmentBytes = segmentBytes;
    this.#fd = createPrivateFile(segmentPath(dir, 1));
  }

  /** End of what is stored. */
  get offset(): number {
    return this.#offset;
  }

  /** First byte that is still there. */
  get from(): number {
    return segmentStart(this.#oldest, this.#segmentBytes);
  }

  /** Appends in order and stops at the first refusal; never throws. */
  write(buffers: readonly Uint8Array[]): Written {
    const before = this.#offset;
    let rest = buffers;
    try {
      while (rest.length > 0) {
        const taken = writevSync(this.#current(), firstBytes(rest, this.#room()));
        this.#offset += taken;
        if (this.#offset % this.#segmentBytes === 0 && taken > 0) this.#finish();
        rest = withoutFirst(rest, taken);
      }
      return { bytes: this.#offset - before };
    } catch (error) {
      return { bytes: this.#offset - before, error };
    }
  }

  /** Removes the oldest segment and says which bytes went, or undefined when it is the one being written. */
  dropOldest(): { readonly from: number; readonly to: number } | undefined {
    const from = this.from;
    const to = from + this.#segmentBytes;
    if (to > this.#offset) return undefined;
    try {
      unlinkSync(segmentPath(this.#dir, this.#oldest));
    } catch (error) {
      // Somebody else removed it: the bytes are as gone as if we had.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return undefined;
    }
    this.#oldest += 1;
    return { from, to };
  }

  /** Resolves when everything written so far would survive a power cut; rejects with the first refusal. */
  async sync(): Promise<void> {
    if (this.#fd !== undefined) this.#startSync(this.#fd, () => undefined);
    await Promise.all(this.#syncing);
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  /** A segment is opened when its first byte comes: an exact multiple leaves no empty file behind. */
  #current(): number {
    this.#fd ??= createPrivateFile(segmentPath(this.#dir, segmentOf(this.#offset, this.#segmentBytes)));
    return this.#fd;
  }

  #room(): number {
    return this.#segmentBytes - (this.#offset % this.#segmentBytes);
  }

  #finish(): void {
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) this.#startSync(fd, () => close(fd, () => undefined));
  }

  #startSync(fd: number, then: () => void): void {
    const synced = new Promise<void>((resolve, reject) => {
      fdatasync(fd, (error) => {
        then();
        if (error) return reject(error);
        this.#syncing.delete(synced);
        resolve();
      });
    });
    // A refused one stays in the set, so that `sync` reports it; until then it must not count as unhandled.
    synced.catch(() => undefined);
    this.#syncing.add(synced);
  }
}

function firstBytes(buffers: readonly Uint8Array[], limit: number): Uint8Array[] {
  const taken: Uint8Array[] = [];
  let room = limit;
  for (const buffer of buffers) {
    if (room === 0) break;
    const part = buffer.length <= room ? buffer : buffer.subarray(0, room);
    taken.push(part);
    room -= part.length;
  }
  return taken;
}

function withoutFirst(buffers: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let skip = bytes;
  const rest: Uint8Array[] = [];
  for (const buffer of buffers) {
    if (skip >= buffer.length) skip -= buffer.length;
    else {
      rest.push(skip === 0 ? buffer : buffer.subarray(skip));
      skip = 0;
    }
  }
  return rest;
}
