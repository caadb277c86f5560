/**
 * The command line's end of the API: HTTP over the daemon's UNIX socket, one connection per request, nothing kept
 * alive, so that a process that has its answer ends at once.
 */
import { type IncomingMessage, request } from 'node:http';
import { createConnection, type Socket } from 'node:net';
import type { CallName, StreamName } from '../actors/daemon/api/contract.ts';
import type { ApiError, Reply } from '../actors/daemon/api/views.ts';
import { type Rendezvous, withSocketAddress } from '../actors/daemon/places.ts';
import { daemonGone, daemonUnresponsive, fromApi, protocolError, usage } from './failure.ts';
import { jsonLines } from './jsonLines.ts';

export interface Hello {
  readonly protocol: number;
  readonly version: string;
  readonly pid: number;
  readonly startNumber: number;
  readonly stateDir: string;
}

/** Nobody listens at the address: nothing was sent, so starting a daemon and asking again is safe. */
export class DaemonAbsent extends Error {
  override readonly name = 'DaemonAbsent';
}

interface Sent {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  /** How long the answer may take to begin; 0 waits for ever. */
  readonly answerWithinMs: number;
}

export class Client {
  readonly #daemon: Pick<Rendezvous, 'socket' | 'pid'>;

  constructor(daemon: Pick<Rendezvous, 'socket' | 'pid'>) {
    this.#daemon = daemon;
  }

  /** Throws DaemonAbsent, or `daemon_gone`, `daemon_unresponsive` and `protocol_error`. A refusal is a Reply. */
  async call<Data>(name: CallName, body: { readonly requestId?: string }, answerWithinMs = 0): Promise<Reply<Data>> {
    const answer = await this.#send({ method: 'POST', path: `/v1/call/${name}`, body, answerWithinMs }, body.requestId);
    const reply = await answeredJson<Reply<Data>>(answer, body.requestId);
    if (typeof reply?.ok !== 'boolean') throw protocolError('it is no reply');
    return reply;
  }

  async hello(answerWithinMs = 5_000): Promise<Hello> {
    const answer = await this.#send({ method: 'GET', path: '/v1/hello', answerWithinMs }, undefined);
    return answeredJson<Hello>(answer, undefined);
  }

  /** Lines until the daemon ends the stream; leaving the loop closes the connection. A line with `error` is thrown. */
  async *stream<Line>(name: StreamName, body: unknown): AsyncGenerator<Line, void, undefined> {
    const answer = await this.#send({ method: 'POST', path: `/v1/stream/${name}`, body, answerWithinMs: 0 }, undefined);
    try {
      if (answer.statusCode !== 200) throw protocolError(`status ${answer.statusCode}`);
      for await (const line of jsonLines(answer)) {
        const { error } = line as { readonly error?: ApiError };
        if (error) throw fromApi(error);
        yield line as Line;
      }
    } catch (cause) {
      throw isConnectionFault(cause) ? daemonGone(undefined) : cause;
    } finally {
      answer.destroy();
    }
  }

  async #send({ method, path, body, answerWithinMs }: Sent, requestId: string | undefined): Promise<IncomingMessage> {
    const socket = await connect(this.#daemon);
    return new Promise((resolve, reject) => {
      const content = body === undefined ? '' : JSON.stringify(body);
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) };
      const sent = request({ method, path, headers, createConnection: () => socket }, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      const expire = () => sent.destroy(daemonUnresponsive(this.#daemon.pid, answerWithinMs));
      const timer = answerWithinMs > 0 ? setTimeout(expire, answerWithinMs) : undefined;
      sent.on('error', (cause) => {
        clearTimeout(timer);
        reject(isConnectionFault(cause) ? daemonGone(requestId) : cause);
      });
      sent.end(content);
    });
  }
}

/** The descriptor of a long path's directory must live until the kernel has connected, hence a socket of our own. */
function connect(daemon: Pick<Rendezvous, 'socket' | 'pid'>): Promise<Socket> {
  return absentUnlessFound(
    withSocketAddress(
      daemon.socket,
      (address) =>
        new Promise<Socket>((resolve, reject) => {
          const socket = createConnection(address);
          socket.once('error', reject);
          socket.once('connect', () => resolve(socket.off('error', reject)));
        }),
    ),
    daemon.pid,
  );
}

async function absentUnlessFound(connecting: Promise<Socket>, pid: number): Promise<Socket> {
  try {
    return await connecting;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // A full backlog (unix(7): EAGAIN) means that the process is there and accepts nothing.
    if (code === 'EAGAIN') throw daemonUnresponsive(pid, 0);
    if (code === 'ECONNREFUSED' || code === 'ENOENT' || code === 'ENOTDIR') throw new DaemonAbsent(code);
    throw cause;
  }
}

async function answeredJson<T>(answer: IncomingMessage, requestId: string | undefined): Promise<T> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of answer) chunks.push(chunk as Buffer);
  } catch {
    throw daemonGone(requestId);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (answer.statusCode === 413) throw usage('the request is too large for the daemon', ['pass large input as a file']);
  if (answer.statusCode !== 200) throw protocolError(`status ${answer.statusCode}`);
  try {
    return JSON.parse(text) as T;
  } catch {
    throw protocolError('it is not JSON');
  }
}

function isConnectionFault(cause: unknown): boolean {
  const { code } = cause as NodeJS.ErrnoException;
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'ABORT_ERR' || code === 'ERR_STREAM_PREMATURE_CLOSE';
}
