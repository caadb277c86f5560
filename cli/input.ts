/** Text or bytes that a person hands over as a file or through a pipe. */
import { createReadStream } from 'node:fs';
import { usage } from './failure.ts';

/**
 * All bytes of `source` (`-` is standard input). `option` names it in errors. Refuses more than `atMostBytes` instead of
 * reading on, so that a device or an endless pipe does no harm.
 */
export async function readInput(option: string, source: string, atMostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  if (source === '-' && process.stdin.isTTY)
    process.stderr.write(`${option}: reading from the terminal, Ctrl-D ends it\n`);
  const input: AsyncIterable<Buffer> = source === '-' ? process.stdin : createReadStream(source);
  try {
    for await (const chunk of input) {
      chunks.push(chunk);
      total += chunk.length;
      if (total > atMostBytes) break;
    }
  } catch (cause) {
    throw usage(`${option} ${source}: cannot be read (${(cause as NodeJS.ErrnoException).code})`, [
      `${option} FILE, or ${option} - for standard input`,
    ]);
  }
  if (total <= atMostBytes) return Buffer.concat(chunks);
  throw usage(`${option} ${source}: more than ${atMostBytes} bytes`, ['let the command itself read the file']);
}
