import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';

/** No line of the guardian is longer; a peer that sends more without a newline is not a guardian. */
const lineMaxBytes = 64 * 1024;

/**
 * The JSON lines of a socket, in order, to one listener; `ended` once, after the last of them, whatever ended the
 * stream. Attach it before the socket can have received anything: it takes the socket's `error` events, so a broken
 * pipe is an end and never an exception.
 */
export function onLines(
  socket: Socket,
  listener: { line(value: unknown): void; ended(error: Error | null): void },
): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let failure: Error | null = null;
  socket.on('data', (chunk: Buffer) => {
    const pieces = (rest + decoder.write(chunk)).split('\n');
    rest = pieces.pop() ?? '';
    for (const piece of pieces) listener.line(parsed(piece));
    if (rest.length > lineMaxBytes) socket.destroy(new Error('line too long'));
  });
  socket.on('error', (error) => {
    failure ??= error;
  });
  socket.on('close', () => listener.ended(failure));
}

/** undefined stands for text that is no JSON; the schema of the caller refuses it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
