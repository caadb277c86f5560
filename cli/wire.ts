/**
 * One HTTP exchange over a UNIX socket. HTTP/1.0 (RFC 1945) is all that is needed: the answer ends with the connection,
 * so nothing has to be parsed but its head. Loading Node's HTTP client takes longer than the daemon takes to answer.
 */
import { createConnection, type Socket } from 'node:net';
import { withSocketAddress } from '../actors/runtime/places.ts';

export interface Message {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  /** Whom this speaks for; absent for what anyone may ask. */
  readonly credential?: string | undefined;
}

export interface Answer {
  readonly status: number;
  /** As announced; undefined for a stream, which ends when the connection does. */
  readonly length: number | undefined;
  readonly body: AsyncGenerator<Buffer, void, undefined>;
  /** Closes the connection. */
  readonly leave: () => void;
}

/** The other end closed or reset the connection before it had answered. */
export class Broken extends Error {
  override readonly name = 'Broken';
}

/** No part of a head of ours is this long; without the bound a stranger at the address could fill the memory. */
const longestHead = 65_536;

/** The other end has accepted the connection and stays silent. */
export class Silent extends Error {
  override readonly name = 'Silent';
}

export interface Patience {
  /** How long the answer may take to begin; 0 waits for ever. */
  readonly answerWithinMs: number;
  /** Ends the connection, whatever has been answered. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Connects, sends and returns when the head of the answer is there. Rejects with the connection's own error (`ENOENT`,
 * `ECONNREFUSED`, …) while nothing has been sent; afterwards with `Broken`, or with `Silent` when the answer has not
 * begun within `answerWithinMs` (0 waits for ever).
 */
export async function exchange(path: string, message: Message, patience: Patience): Promise<Answer> {
  const { answerWithinMs, signal } = patience;
  // Before there is a connection: what cannot be sent must not leave one behind that nobody listens to.
  const wire = wireForm(message);
  const socket = await withSocketAddress(path, connected);
  const giveUp = () => socket.destroy(new Silent('no answer'));
  signal?.addEventListener('abort', giveUp, { once: true });
  const timer = answerWithinMs > 0 ? setTimeout(giveUp, answerWithinMs) : undefined;
  try {
    const chunks = received(socket);
    socket.write(wire);
    let head: Buffer = Buffer.alloc(0);
    for (;;) {
      const { done, value } = await chunks.next();
      if (done || head.length > longestHead) throw new Broken('no answer');
      head = Buffer.concat([head, value]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) continue;
      const body = from(head.subarray(end + 4), chunks);
      return { ...parsedHead(head.toString('latin1', 0, end)), body, leave: () => socket.destroy() };
    }
  } finally {
    clearTimeout(timer);
  }
}

/** The descriptor of a long path's directory must live until the kernel has connected. */
function connected(address: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(address);
    socket.once('error', reject);
    socket.once('connect', () => resolve(socket.off('error', reject)));
  });
}

function wireForm({ method, path, body, credential }: Message): string {
  const content = body === undefined ? '' : JSON.stringify(body);
  const length = Buffer.byteLength(content);
  const authorization = credential === undefined ? '' : `authorization: Custody ${credential}\r\n`;
  return `${method} ${path} HTTP/1.0\r\nhost: custody\r\n${authorization}content-type: application/json\r\ncontent-length: ${length}\r\n\r\n${content}`;
}

function parsedHead(text: string): Pick<Answer, 'status' | 'length'> {
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1];
  const length = /^content-length: *(\d+)\r?$/im.exec(text)?.[1];
  return { status: Number(status ?? 0), length: length === undefined ? undefined : Number(length) };
}

async function* received(socket: Socket): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const chunk of socket) yield chunk as Buffer;
  } catch (cause) {
    throw cause instanceof Silent ? cause : new Broken((cause as NodeJS.ErrnoException).code ?? 'broken');
  }
}

async function* from(first: Buffer, rest: AsyncGenerator<Buffer, void, undefined>): Answer['body'] {
  if (first.length > 0) yield first;
  yield* rest;
}
