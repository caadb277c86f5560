import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ExportFormat, exportTranscript } from '../../../pty/transcript/export.ts';
import { readTranscript, type TranscriptSummary } from '../../../pty/transcript/reader.ts';
import { openTranscript, type TranscriptOptions, type TranscriptWriter } from '../../../pty/transcript/writer.ts';

export const header = { sessionId: 'Stest', cols: 80, rows: 24, term: 'xterm-256color' };

export function privateDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'custody-transcript-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A clock that goes on by a millisecond whenever somebody looks. */
export function steppingClock() {
  let nowUs = 5_000_000;
  return {
    wallMs: () => 1_700_000_000_000,
    monotonicUs: () => {
      nowUs += 1_000;
      return nowUs;
    },
  };
}

export function writer(options: Partial<TranscriptOptions> = {}): TranscriptWriter {
  const dir = options.dir ?? join(privateDirectory(), 'Stest');
  const opened = openTranscript({ dir, header, clock: steppingClock(), ...options });
  onTestFinished(() => opened.close());
  return opened;
}

/** The summary of a transcript that can be read. */
export async function summaryOf(dir: string): Promise<TranscriptSummary> {
  const reading = await readTranscript(dir);
  if (reading.header === undefined) throw new Error(JSON.stringify(reading.findings));
  return reading;
}

export async function collected(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

export async function exported(dir: string, format: ExportFormat): Promise<string> {
  return (await collected((await exportTranscript(dir, format)).pieces)).toString();
}
