/** A transcript played back: what the terminal said and what happened to it, in order, in bounded memory. */
import { readRange } from './rawReader.ts';
import { readRecords, type TranscriptSummary } from './reader.ts';
import type { LossReason, TranscriptRecord } from './records.ts';

export type Moment =
  /** At most 64 KiB. Bytes that no line of the index covers come last, at the time of the last line. */
  | { readonly kind: 'bytes'; readonly atUs: number; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'resize'; readonly atUs: number; readonly cols: number; readonly rows: number }
  /** Bytes that are not there: refused by the disk, dropped by the cap, or missing although the index has them. */
  | { readonly kind: 'missing'; readonly atUs: number; readonly bytes: number; readonly reason: MissingReason };

export type MissingReason = LossReason | 'dropped' | 'segmentLost';

/** Ends where the summary ends: what is appended meanwhile is left out. Throws TranscriptRangeError when bytes vanish. */
export async function* timeline(summary: TranscriptSummary): AsyncGenerator<Moment, void, undefined> {
  let at = 0;
  let atUs = 0;
  for await (const record of readRecords(summary.dir)) {
    atUs = Math.max(atUs, record.atUs);
    const target = Math.min(endOf(record) ?? at, summary.to);
    if (target > at) {
      yield* between(summary, { from: at, to: target, atUs });
      at = target;
    }
    if (record.kind === 'resize') yield { kind: 'resize', atUs, cols: record.cols, rows: record.rows };
    if (record.kind === 'gap') yield { kind: 'missing', atUs, bytes: record.lostBytes, reason: record.reason };
    if (at >= summary.to && record.kind === 'output' && record.end > at) break;
  }
  yield* between(summary, { from: at, to: summary.to, atUs });
}

/** Up to where bytes precede a record. Only those of a gap and of output say so. */
function endOf(record: TranscriptRecord): number | undefined {
  if (record.kind === 'output') return record.end;
  return record.kind === 'gap' ? record.offset : undefined;
}

interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly atUs: number;
}

/** The stored parts of a stretch as bytes, the others as missing. */
async function* between(
  summary: TranscriptSummary,
  { from, to, atUs }: Stretch,
): AsyncGenerator<Moment, void, undefined> {
  let at = from;
  const parts = summary.extents.filter((extent) => extent.to > from && extent.from < to);
  for (const extent of [...parts, { from: to, to }]) {
    if (extent.from > at) yield { kind: 'missing', atUs, bytes: extent.from - at, reason: reasonOf(summary, at) };
    at = Math.max(at, extent.from);
    for await (const bytes of readRange(summary, at, Math.min(extent.to, to))) {
      yield { kind: 'bytes', atUs, offset: at, bytes };
      at += bytes.length;
    }
  }
}

function reasonOf(summary: TranscriptSummary, at: number): MissingReason {
  return at < summary.from ? 'dropped' : 'segmentLost';
}
