/** The counter of a producer, read beside whoever writes it (pty/note/record.c has the record). */
import { hash } from 'node:crypto';
import { type OpenDirectory, readSmall } from './spoolFiles.ts';

export interface Counter {
  readonly stream: string;
  /** The boot that the stream belongs to; in another one nobody writes to it any more. */
  readonly bootId: string;
  /** The last number that was given out. */
  readonly given: number;
  /** The last one that was given out in vain, because the spool was full; 0: none. Nobody is at work on it or below. */
  readonly settled: number;
  /** Notes that never got a number and for which none has been left out yet. */
  readonly untold: number;
}

/** More traces than this are not counted: no launcher loses a million notes one by one. */
const mostBytes = 1_048_576;
const recordBytes = 289;
const pattern =
  /^(?<summed>custody-notes 2 (?<stream>[0-9a-f]{32}) (?<next>\d{20}) (?<folded>\d{20}) (?<settled>\d{20}) \d{20} \d{20}-[0-9a-f]{32} (?<bootId>[0-9a-f-]{36}) )(?<sum>[0-9a-f]{64})\n$/;
/** Of clients before there was a sum. */
const formerBytes = 128;
const formerPattern =
  /^custody-notes 1 (?<stream>[0-9a-f]{32}) (?<next>\d{20}) (?<folded>\d{20}) (?<bootId>[0-9a-f-]{36})\n$/;

/** `damaged`: something stands there and makes no sense. Either way the next call begins another stream. */
export function readCounter(directory: OpenDirectory): Counter | 'missing' | 'damaged' {
  // A write in the middle of a read could show halves of two records; the same bytes twice are one.
  let before: Buffer | undefined;
  for (let tries = 0; tries < 8; tries += 1) {
    const file = readSmall(directory, 'counter', mostBytes);
    if (file === 'missing') return file;
    if ('refused' in file) return 'damaged';
    if (before?.equals(file.bytes)) return parse(file.bytes) ?? 'damaged';
    before = file.bytes;
  }
  return 'missing';
}

function parse(bytes: Buffer): Counter | undefined {
  const record = pattern.exec(bytes.toString('latin1', 0, recordBytes))?.groups;
  if (record !== undefined && hash('sha256', record.summed!, 'hex') !== record.sum) return undefined;
  const fields = record ?? formerPattern.exec(bytes.toString('latin1', 0, formerBytes))?.groups;
  const { stream, bootId, next, folded, settled = '0' } = fields ?? {};
  const given = Number(next) - 1;
  const untold = bytes.length - (record ? recordBytes : formerBytes) - Number(folded);
  if (stream === undefined || bootId === undefined || !Number.isSafeInteger(given) || given < 0 || untold < 0)
    return undefined;
  return { stream, bootId, given, settled: Number(settled), untold };
}
