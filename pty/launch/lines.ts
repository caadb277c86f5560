import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';

/** No line of the guardian is longer; a peer that sends more without a newline is not a guardian. */
const guardianLineMax = 64 * 1024;

/**
 * The JSON lines of a socket, in order, to one listener; `ended` once, after the last of them, whatever ended the
 * stream. Attach it before the socket can have received anything: it takes the socket's `error` events, so a broken
 * pipe is an end and never an exception. No line may be longer than `lineMax`, in UTF-16 units.
 */
export function onLines(
  socket: Socket,
  listener: { line(value: unknown): void; ended(error: Error | null): void },
  lineMax = guardianLineMax,
): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let failure: Error | null = null;
  socket.on('data', (chunk: Buffer) => {
    // Only what is new is looked through: a long line comes in many pieces.
    const [first = '', ...others] = decoder.write(chunk).split('\n');
    rest += first;
    for (const next of others) {
      if (rest.length > lineMax) break;
      listener.line(parsed(rest));
      rest = next;
    }
    if (rest.length > lineMax) socket.destroy(new Error('line too long'));
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
