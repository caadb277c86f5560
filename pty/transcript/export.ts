/** Transcripts in forms that other programs read. */
import { asciicast } from './asciicast.ts';
import { TranscriptUnreadableError } from './errors.ts';
import { plainText } from './plainText.ts';
import { readTranscript, type TranscriptSummary } from './reader.ts';
import { timeline } from './timeline.ts';

export const exportFormats = ['raw', 'asciicast', 'text'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export interface TranscriptExport {
  /** Says whether the export is everything; a raw one has no room for a mark where bytes are missing. */
  readonly summary: TranscriptSummary;
  /** Pieces, made as they are asked for: whoever takes them slowly holds up nothing else and fills no memory. */
  readonly pieces: AsyncGenerator<Uint8Array, void, undefined>;
}

/** Throws TranscriptUnreadableError when no header can be read, and TranscriptRangeError while bytes vanish. */
export async function exportTranscript(dir: string, format: ExportFormat): Promise<TranscriptExport> {
  const summary = await readTranscript(dir);
  if (summary.header === undefined) throw new TranscriptUnreadableError(summary.findings.map(({ code }) => code));
  const makers = { raw: rawBytes, asciicast: encoded(asciicast), text: encoded(plainText) };
  return { summary, pieces: makers[format](summary) };
}

async function* rawBytes(summary: TranscriptSummary): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const moment of timeline(summary)) if (moment.kind === 'bytes') yield moment.bytes;
}

type TextMaker = (summary: TranscriptSummary) => AsyncGenerator<string, void, undefined>;

function encoded(maker: TextMaker) {
  return async function* (summary: TranscriptSummary): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const text of maker(summary)) yield Buffer.from(text);
  };
}
