/**
 * What a transcript holds and whether that is everything. A transcript is complete when its writer said so, nothing was
 * lost or dropped, and the files agree with the index; whatever else it is has a name (CAP-04, PTY-07). Broken files are
 * findings, never an exception.
 */
import { type Extent, storedExtents } from './extents.ts';
import { type Finding, readHeader } from './findings.ts';
import { readIndexLines } from './indexLines.ts';
import type { TranscriptHeader } from './layout.ts';
import type { RawPlace } from './rawReader.ts';
import { decodeRecord, type TranscriptRecord } from './records.ts';

export interface TranscriptSummary extends RawPlace {
  readonly header: TranscriptHeader;
  /** First stored byte, and the end of what is stored: [from, to), with holes where `extents` has them. */
  readonly from: number;
  readonly to: number;
  readonly extents: readonly Extent[];
  /** Bytes that the terminal said and the disk refused, as far as the index knows. */
  readonly lostBytes: number;
  /** Everything in the index but the batches of output, which may be millions. */
  readonly records: readonly TranscriptRecord[];
  readonly complete: boolean;
  /** Why not: `interrupted`, `lost`, `dropped`, the reason of the writer, or the code of a finding. */
  readonly reasons: readonly string[];
  readonly findings: readonly Finding[];
}

export type TranscriptReading =
  | TranscriptSummary
  | { readonly header: undefined; readonly findings: readonly Finding[] };

/** Reads the index and looks at every segment, without reading the bytes. A running session reads as `interrupted`. */
export async function readTranscript(dir: string): Promise<TranscriptReading> {
  const reading = await readOnce(dir);
  // A running writer may have dropped a segment between our look at the index and ours at the directory.
  const isSuspect = reading.findings.some(({ code }) => code === 'segment.missing');
  return isSuspect ? readOnce(dir) : reading;
}

async function readOnce(dir: string): Promise<TranscriptReading> {
  const header = await readHeader(dir);
  if (!('version' in header)) return { header: undefined, findings: header };
  const index = await readIndex(dir);
  const { segmentBytes } = header;
  const stored = storedExtents({ dir, segmentBytes }, index.from);
  const to = stored.extents.at(-1)?.to ?? index.from;
  const findings = [...index.findings, ...stored.findings];
  if (to < index.end) findings.push({ code: 'raw.shorterThanIndex', at: to });
  if (to > index.end && index.outcome !== undefined) findings.push({ code: 'raw.longerThanIndex', at: index.end });
  const lostBytes = index.records.reduce((sum, one) => sum + (one.kind === 'gap' ? one.lostBytes : 0), 0);
  const reasons = [
    ...(index.outcome === 'complete' ? [] : [index.outcome ?? 'interrupted']),
    ...(lostBytes > 0 ? ['lost'] : []),
    ...(index.from > 0 ? ['dropped'] : []),
    ...findings.map(({ code }) => code),
  ];
  const from = stored.extents[0]?.from ?? to;
  const { extents } = stored;
  const view = { dir, segmentBytes, header, from, to, extents, lostBytes, records: index.records, findings };
  return { ...view, complete: reasons.length === 0, reasons: [...new Set(reasons)] };
}

interface IndexReading {
  readonly records: TranscriptRecord[];
  readonly findings: Finding[];
  readonly from: number;
  readonly end: number;
  readonly outcome: string | undefined;
}

async function readIndex(dir: string): Promise<IndexReading> {
  const records: TranscriptRecord[] = [];
  const findings: Finding[] = [];
  let end = 0;
  const torn = await eachRecord(dir, (record, line) => {
    if (record === undefined) findings.push({ code: 'index.badLine', at: line });
    else if (record.kind === 'output') end = Math.max(end, record.end);
    else records.push(record);
  });
  if (torn) findings.push({ code: 'index.tornLine', at: records.length });
  const from = records.reduce((last, one) => (one.kind === 'dropped' ? Math.max(last, one.to) : last), 0);
  const outcome = records.findLast((one) => one.kind === 'end')?.outcome;
  return { records, findings, from, end, outcome };
}

/** Calls back for every line after the header, with undefined for one that is no record. Resolves with: ends in half a line. */
async function eachRecord(
  dir: string,
  take: (record: TranscriptRecord | undefined, line: number) => void,
): Promise<boolean> {
  const groups = readIndexLines(dir);
  let line = 0;
  for (;;) {
    const { value, done } = await groups.next();
    if (done) return value;
    for (const text of value) {
      line += 1;
      if (line > 1) take(decodeRecord(text), line);
    }
  }
}

/** Every record in order, output included; lines that are none are left out. Memory stays bounded. */
export async function* readRecords(dir: string): AsyncGenerator<TranscriptRecord, void, undefined> {
  let isHeader = true;
  for await (const lines of readIndexLines(dir)) {
    for (const line of lines) {
      const record = isHeader ? undefined : decodeRecord(line);
      isHeader = false;
      if (record !== undefined) yield record;
    }
  }
}
