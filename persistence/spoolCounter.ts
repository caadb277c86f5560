/** The counter of a producer, read beside whoever writes it (pty/note/counter.c has the record). */
import { type OpenDirectory, readSmall } from './spoolFiles.ts';

export interface Counter {
  readonly stream: string;
  /** The boot that the stream belongs to; in another one nobody writes to it any more. */
  readonly bootId: string;
  /** The last number that was given out. */
  readonly given: number;
  /** Notes that never got a number and for which none has been left out yet. */
  readonly untold: number;
}

const recordBytes = 128;
/** More traces than this are not counted: no launcher loses a million notes one by one. */
const mostBytes = 1_048_576;
const pattern = /^custody-notes 1 ([0-9a-f]{32}) (\d{20}) (\d{20}) ([0-9a-f-]{36})\n$/;

/** Undefined when there is none, or none that makes sense: the next call then begins another stream. */
export function readCounter(directory: OpenDirectory): Counter | undefined {
  // A write in the middle of a read could show halves of two numbers; the same bytes twice are one record.
  let before: Buffer | undefined;
  for (let tries = 0; tries < 8; tries += 1) {
    const file = readSmall(directory, 'counter', mostBytes);
    if (file === 'missing' || 'refused' in file) return undefined;
    if (before?.equals(file.bytes)) return parse(file.bytes);
    before = file.bytes;
  }
  return undefined;
}

function parse(bytes: Buffer): Counter | undefined {
  const [, stream, next, folded, bootId] = pattern.exec(bytes.toString('latin1', 0, recordBytes)) ?? [];
  const given = Number(next) - 1;
  const untold = bytes.length - recordBytes - Number(folded);
  if (stream === undefined || bootId === undefined || !Number.isSafeInteger(given) || given < 0 || untold < 0)
    return undefined;
  return { stream, bootId, given, untold };
}
