/** Chapter 8: what the terminal said, read back from its transcript. */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expectThat } from '../expectation.ts';
import type { Stage } from '../stage.ts';
import { show } from '../terminal.ts';
import type { Agent } from './agentAtWork.ts';

export interface Recording {
  readonly sessionId: string;
  /** Of output, as the program wrote it. */
  readonly bytes: number;
  readonly complete: boolean;
  /** As `custody sessions export --format text` says it, without blank lines. */
  readonly lines: readonly string[];
  readonly asciicast: { readonly file: string; readonly events: number; readonly seconds: number };
}

export async function replay(stage: Stage, { sessionId, picture }: Agent): Promise<Recording> {
  const { narrator, installation, scratch } = stage;
  narrator.chapter(
    'The recording',
    'The PTY host has stored all that the terminal said, while daemons came and went. It knows what is missing.',
  );
  const { exportTranscript } = await import('../../../pty/transcript/export.ts');
  const { transcriptDir } = await installation.call('sessions.show', { id: sessionId });
  narrator.command('custody', 'sessions', 'export', sessionId, '--format', 'text');
  const text = await exportTranscript(transcriptDir, 'text');
  const lines = (await collected(text.pieces)).split('\n').filter((line) => line !== '');
  show(stage, lines);
  const { complete, reasons, to: bytes } = text.summary;
  expectThat(complete, 'the transcript is complete', reasons);
  // The last question had no answer yet when it was looked at.
  const isSame = picture.rows.every((row) => lines.some((line) => line.startsWith(row)));
  expectThat(isSame, 'the transcript holds what the viewers saw', lines);
  narrator.good('recorded', `${bytes} bytes, complete: end marker read`);

  const file = join(scratch.desk, 'agent.cast');
  narrator.command('custody', 'sessions', 'export', sessionId, '--format', 'asciicast', '--output', file);
  const cast = await collected((await exportTranscript(transcriptDir, 'asciicast')).pieces);
  await pipeline(Readable.from([cast]), createWriteStream(file, { mode: 0o600 }));
  const [, ...events] = cast.trimEnd().split('\n');
  const [seconds] = JSON.parse(events.at(-1) ?? '[0]') as [number];
  narrator.fact(
    'asciicast',
    `${events.length} events in ${seconds.toFixed(1)} s, for asciinema to play; --keep would leave it there`,
  );
  return { sessionId, bytes, complete, lines, asciicast: { file, events: events.length, seconds } };
}

async function collected(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all).toString('utf8');
}
