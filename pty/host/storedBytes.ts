/** Reads back what a session has stored so far, for viewers that fell behind; the pages are warm, so it is read in place. */
import { closeSync, readSync } from 'node:fs';
import { openOwnFile } from '../transcript/files.ts';
import { segmentOf, segmentPath, segmentStart } from '../transcript/layout.ts';

export interface StoredBytes {
  /** Of the first byte; later than asked for when older ones were dropped. */
  readonly offset: number;
  readonly bytes: Buffer;
}

export interface Stored {
  readonly dir: string;
  readonly segmentBytes: number;
  /** First byte that the cap has left. */
  readonly from: number;
}

/** At most `maxBytes`, and never across two segments. Empty when nothing can be read there. */
export function readStored({ dir, segmentBytes, from }: Stored, offset: number, maxBytes: number): StoredBytes {
  const first = Math.max(offset, from);
  const number = segmentOf(first, segmentBytes);
  const file = openOwnFile(segmentPath(dir, number));
  if ('problem' in file) return { offset: first, bytes: Buffer.alloc(0) };
  try {
    const start = first - segmentStart(number, segmentBytes);
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(maxBytes, file.size - start)));
    return { offset: first, bytes: bytes.subarray(0, readSync(file.fd, bytes, 0, bytes.length, start)) };
  } finally {
    closeSync(file.fd);
  }
}
