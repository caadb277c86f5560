/** sessions export: a transcript for other programs. One that is not complete says so, in words and by its exit status. */
import { once } from 'node:events';
import { type FileHandle, open } from 'node:fs/promises';
import { OperatingError } from '../../actors/runtime/operatingError.ts';
import { TranscriptUnreadableError } from '../../pty/transcript/errors.ts';
import { type ExportFormat, exportTranscript, type TranscriptExport } from '../../pty/transcript/export.ts';
import { usage } from '../failure.ts';
import { type Invocation, localAnswer } from '../invocation.ts';
import { line } from '../print/escape.ts';
import { type ExportView, exportedLines } from '../print/sessions.ts';
import { spaced } from '../print/words.ts';
import { type FoundSession, lookUpSession } from '../sessionClient.ts';
import { unwritable } from '../wholeFile.ts';
import { placeOf, unreadable } from './storedSession.ts';

export interface ExportFlags {
  readonly format?: ExportFormat;
  readonly output?: string;
}

/** Section F: done, but something about it stays unproved. */
const incompleteStatus = 5;

export async function exportSession(invocation: Invocation, flags: ExportFlags, typed: string): Promise<number> {
  const { format = 'raw', output: file } = flags;
  const { output, places } = invocation;
  if (output.json && file === undefined) {
    throw usage('--json and the transcript cannot share standard output', [
      `custody sessions export ${typed} --json --output FILE`,
    ]);
  }
  const found = await lookUpSession(places, typed);
  const exported = await opened(found, format);
  const bytes = await written(invocation, exported, file);
  const reasons = whyIncomplete(found, exported);
  const { sessionId } = found;
  const { lostBytes } = exported.summary;
  const isComplete = reasons.length === 0;
  if (!isComplete) output.note(line`the transcript of ${sessionId} is not complete: ${reasons.map(spaced).join(', ')}`);
  const exitCode = isComplete ? 0 : incompleteStatus;
  if (file === undefined) return exitCode;
  const view: ExportView = { sessionId, format, file, bytes, complete: isComplete, reasons, lostBytes };
  return output.answer(localAnswer('sessions.export', view, exitCode), exportedLines, () => [sessionId]);
}

async function opened({ transcriptDir }: FoundSession, format: ExportFormat): Promise<TranscriptExport> {
  await placeOf(transcriptDir);
  try {
    return await exportTranscript(transcriptDir, format);
  } catch (error) {
    // It went away between two looks.
    throw error instanceof TranscriptUnreadableError ? unreadable([error.message]) : error;
  }
}

function whyIncomplete({ report }: FoundSession, { summary }: TranscriptExport): readonly string[] {
  const isLive = report !== undefined && report.end === null;
  return summary.reasons.map((reason) => (reason === 'interrupted' && isLive ? 'the session goes on' : reason));
}

/** Throws `transcript_range_unavailable` (exit 5) when bytes vanish under it: what was written until then is short. */
async function written({ output }: Invocation, { pieces }: TranscriptExport, file: string | undefined) {
  let bytes = 0;
  const sink = file === undefined ? undefined : await privateFile(file);
  const failed = sink && once(sink, 'error').then(([error]) => Promise.reject(unwritable(file as string, error)));
  failed?.catch(() => {});
  try {
    for await (const piece of pieces) {
      bytes += piece.length;
      if (sink === undefined) await output.bytes('stdout', piece);
      else if (!sink.write(piece)) await Promise.race([once(sink, 'drain'), failed]);
    }
  } catch (error) {
    throw (error as { code?: unknown }).code === 'transcript_range_unavailable' ? cutShort(error as Error) : error;
  }
  if (sink !== undefined) {
    sink.end();
    await Promise.race([once(sink, 'close'), failed]);
  }
  return bytes;
}

/** Private before the first byte is in it, also where it was there before; a pipe or a device keeps its mode. */
async function privateFile(path: string): Promise<ReturnType<FileHandle['createWriteStream']>> {
  try {
    const handle = await open(path, 'w', 0o600);
    if ((await handle.stat()).isFile()) await handle.chmod(0o600);
    return handle.createWriteStream();
  } catch (error) {
    throw unwritable(path, error as NodeJS.ErrnoException);
  }
}

const cutShort = (cause: Error): OperatingError =>
  new OperatingError(
    {
      code: 'transcript_range_unavailable',
      message: `what was exported is short: ${cause.message}`,
      exitCode: incompleteStatus,
      next: ['export it again'],
    },
    cause,
  );
