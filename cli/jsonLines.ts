/** Newline-delimited JSON from a byte stream; a character that is split between two chunks stays whole. */
import { protocolError } from './failure.ts';
import { Broken } from './wire.ts';

/** A longer line is no line of ours: without this bound a broken peer could fill the memory. */
const longestLine = 64 * 1024 * 1024;

/** Yields each parsed line. Throws `protocol_error` for one that is not JSON, and `Broken` for an unfinished last one. */
export async function* jsonLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<unknown, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of source) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() as string;
    if (rest.length > longestLine) throw protocolError('a line without end');
    for (const line of lines) if (line !== '') yield parsed(line);
  }
  if (rest + decoder.decode() !== '') throw new Broken('half a line');
}

function parsed(line: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw protocolError(`a line that is not JSON (${line.length} characters)`);
  }
  if (typeof value !== 'object' || value === null) throw protocolError('a line that is no object');
  return value;
}
