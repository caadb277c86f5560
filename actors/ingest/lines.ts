/** Notes as lines of text, from a file or a pipe: whatever it is, it is read within bounds and answered line by line. */
import { type Note, noteBytes } from '../../machines/note.ts';
import { readLine } from '../../persistence/noteLine.ts';

export interface GoodLine {
  /** Counted from 1. */
  readonly line: number;
  readonly note: Note;
}

export interface BadLine {
  readonly line: number;
  /** `too_long`, `not_json`, `note_damaged` (its sum is another one), or the fields that are wrong; never what stood there. */
  readonly problem: string;
}

export type NoteLine = GoodLine | BadLine;

const lineFeed = 0x0a;

/** One for each line that is not empty. A line that is too long is skipped to its end and not kept. */
export async function* noteLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<NoteLine> {
  let line = 1;
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      bytes += end - from;
      if (bytes <= noteBytes) held.push(chunk.subarray(from, end));
      if (bytes > 0) yield parsed(line, bytes, held);
      [held, bytes] = [[], 0];
      line += 1;
      from = end + 1;
    }
    bytes += chunk.length - from;
    // The chunk may be used again by whoever reads; what is kept of it is copied.
    if (bytes <= noteBytes) held.push(Buffer.from(chunk.subarray(from)));
    else held = [];
  }
  if (bytes > 0) yield parsed(line, bytes, held);
}

function parsed(line: number, bytes: number, held: readonly Buffer[]): NoteLine {
  if (bytes > noteBytes) return { line, problem: 'too_long' };
  const read = readLine(Buffer.concat(held));
  if ('note' in read) return { line, note: read.note };
  return { line, problem: read.problem === 'not_a_note' ? read.fields : read.problem };
}
