/**
 * A transcript as an asciicast of version 2: a line of JSON for the header, then one per event
 * (docs.asciinema.org/manual/asciicast/v2). The environment in it is TERM alone (PRIV-02).
 */
import type { TranscriptSummary } from './reader.ts';
import { timeline } from './timeline.ts';

/** Lines, each with its line end. What is missing shows as a marker, so that nobody takes a cut for a pause. */
export async function* asciicast(summary: TranscriptSummary): AsyncGenerator<string, void, undefined> {
  const { cols, rows, startedAtMs, term } = summary.header;
  const timestamp = Math.floor(startedAtMs / 1_000);
  yield line({ version: 2, width: cols, height: rows, timestamp, env: { TERM: term } });
  const decoder = new Decoder();
  let atUs = 0;
  for await (const moment of timeline(summary)) {
    ({ atUs } = moment);
    if (moment.kind === 'bytes') yield* output(atUs, decoder.text(moment.bytes));
    if (moment.kind === 'resize') yield event(atUs, 'r', `${moment.cols}x${moment.rows}`);
    if (moment.kind === 'missing') {
      // What stood before the hole is no beginning of what stands after it.
      yield* output(atUs, decoder.rest());
      yield event(atUs, 'm', `${moment.bytes} bytes missing: ${moment.reason}`);
    }
  }
  yield* output(atUs, decoder.rest());
}

/** UTF-8 across pieces: a character that is cut between two comes with the second, an invalid byte as U+FFFD. */
class Decoder {
  // A byte order mark is output like any other.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  text(bytes: Uint8Array): string {
    return this.#decoder.decode(bytes, { stream: true });
  }

  rest(): string {
    return this.#decoder.decode();
  }
}

function* output(atUs: number, text: string): Generator<string, void, undefined> {
  if (text !== '') yield event(atUs, 'o', text);
}

function event(atUs: number, code: 'o' | 'r' | 'm', data: string): string {
  return line([atUs / 1_000_000, code, data]);
}

function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
