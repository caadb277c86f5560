/**
 * How a transcript lies on disk: one private directory per session with the raw bytes in segments of equal size, an index
 * of what happened when, and at most one checkpoint of the screen. The place of an offset follows from the segment size
 * alone, so that the bytes stay readable when the index is lost.
 */
import { join } from 'node:path';

/** Raised when an older reader could misunderstand what is written. */
export const transcriptVersion = 1;

export const indexName = 'index.jsonl';
export const checkpointName = 'checkpoint';
export const defaultSegmentBytes = 16 * 1024 * 1024;

/** First line of the index. It names the session and nothing of what runs in it (PRIV-02). */
export interface TranscriptHeader {
  readonly version: number;
  readonly sessionId: string;
  readonly startedAtMs: number;
  readonly cols: number;
  readonly rows: number;
  readonly term: string;
  readonly segmentBytes: number;
}

/** Segments count from 1. */
export function segmentPath(dir: string, number: number): string {
  return join(dir, `raw.${String(number).padStart(6, '0')}`);
}

/** Undefined for a file that is no segment. */
export function segmentNumber(name: string): number | undefined {
  const digits = /^raw\.(\d{6,})$/.exec(name)?.[1];
  return digits === undefined || Number(digits) === 0 ? undefined : Number(digits);
}

/** Where a segment starts, in bytes since the start of the session. */
export function segmentStart(number: number, segmentBytes: number): number {
  return (number - 1) * segmentBytes;
}

/** The segment that holds the byte at an offset. */
export function segmentOf(offset: number, segmentBytes: number): number {
  return Math.floor(offset / segmentBytes) + 1;
}

export function headerLine(header: TranscriptHeader): string {
  return `${JSON.stringify(header)}\n`;
}

/** Undefined for a line that is no header; the caller compares the version before it believes the rest. */
export function parseHeader(line: string): TranscriptHeader | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  return isHeader(value) ? value : undefined;
}

function isHeader(value: unknown): value is TranscriptHeader {
  if (typeof value !== 'object' || value === null) return false;
  const { version, sessionId, startedAtMs, cols, rows, term, segmentBytes } = value as Record<string, unknown>;
  const counts = [version, cols, rows, segmentBytes].every((count) => Number.isSafeInteger(count) && Number(count) > 0);
  return counts && Number.isFinite(startedAtMs) && typeof sessionId === 'string' && typeof term === 'string';
}
