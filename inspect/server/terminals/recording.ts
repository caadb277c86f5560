/** What a session has said, as it lies on the disk: for playing back, and as a screen at any instant. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { InspectedDaemon } from '../../../actors/daemon/inspector/port.ts';
import { transcriptDirOf, unrecordedMark } from '../../../actors/runtime/unrecorded.ts';
import { exportTranscript } from '../../../pty/transcript/export.ts';
import { readHeader } from '../../../pty/transcript/findings.ts';
import { readRecords, readTranscript, type TranscriptSummary } from '../../../pty/transcript/reader.ts';
import { notHere } from '../access/refusal.ts';

type Parts = Pick<InspectedDaemon, 'places' | 'store'>;

export const directoryOf = ({ places }: Parts, sessionId: string): string => transcriptDirOf(places, sessionId);

/** Whether anything of it is there that can be read. An id that no session has may be any path, and names no file. */
export async function isRecorded(daemon: Parts, sessionId: string): Promise<boolean> {
  if (daemon.store.actors.keyOf({ kind: 'ptySession', id: sessionId }) === undefined) return false;
  const dir = directoryOf(daemon, sessionId);
  return existsSync(dir) && !existsSync(join(dir, unrecordedMark)) && 'version' in (await readHeader(dir));
}

/** Throws a Refusal where nothing was kept. */
export async function summaryOf(daemon: Parts, sessionId: string): Promise<TranscriptSummary> {
  const reading = (await isRecorded(daemon, sessionId))
    ? await readTranscript(directoryOf(daemon, sessionId))
    : undefined;
  if (reading?.header === undefined) throw notHere(`recording of ${sessionId}`);
  return reading;
}

/** An asciicast of version 2, in pieces that are made as they are taken. Throws a Refusal where nothing was kept. */
export async function recordingOf(daemon: Parts, sessionId: string): Promise<AsyncGenerator<Uint8Array>> {
  await summaryOf(daemon, sessionId);
  const { pieces } = await exportTranscript(directoryOf(daemon, sessionId), 'asciicast');
  return pieces;
}

/** Milliseconds between the begin of a session and the last thing that is known of its output. */
export async function durationOf(dir: string): Promise<number> {
  let atUs = 0;
  for await (const record of readRecords(dir)) atUs = Math.max(atUs, record.atUs);
  return atUs / 1_000;
}

/** The last byte that had come by then, counted from the first one, and when it came. */
export async function offsetAt(
  dir: string,
  timeMs: number,
): Promise<{ readonly offset: number; readonly timeMs: number }> {
  let found = { offset: 0, timeMs: 0 };
  for await (const record of readRecords(dir)) {
    if (record.atUs / 1_000 > timeMs) break;
    if (record.kind === 'output') found = { offset: record.end, timeMs: record.atUs / 1_000 };
  }
  return found;
}
