/** The command line's end of the API. One connection per request, so that a process that has its answer ends at once. */
import type { CallName, StreamName } from '../actors/daemon/api/contract.ts';
import type { ApiError, Reply } from '../actors/daemon/api/views.ts';
import type { Rendezvous } from '../actors/daemon/places.ts';
import { daemonGone, daemonUnresponsive, fromApi, protocolError, usage } from './failure.ts';
import { jsonLines } from './jsonLines.ts';
import { type Answer, Broken, exchange, type Message, Silent } from './wire.ts';

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

interface Terms {
  /** How long the answer may take to begin; 0 waits for ever. */
  readonly answerWithinMs: number;
  readonly requestId?: string | undefined;
}

export class Client {
  readonly #daemon: Pick<Rendezvous, 'socket' | 'pid'>;

  constructor(daemon: Pick<Rendezvous, 'socket' | 'pid'>) {
    this.#daemon = daemon;
  }

  /** Throws DaemonAbsent, or `daemon_gone`, `daemon_unresponsive` and `protocol_error`. A refusal is a Reply. */
  async call<Data>(name: CallName, body: { readonly requestId?: string }, answerWithinMs = 0): Promise<Reply<Data>> {
    const terms = { answerWithinMs, requestId: body.requestId };
    const reply = await this.#ask<Reply<Data>>({ method: 'POST', path: `/v1/call/${name}`, body }, terms);
    if (typeof reply?.ok !== 'boolean') throw protocolError('it is no reply');
    return reply;
  }

  hello(answerWithinMs = 5_000): Promise<Hello> {
    return this.#ask<Hello>({ method: 'GET', path: '/v1/hello' }, { answerWithinMs });
  }

  /** Lines until the daemon ends the stream; leaving the loop closes the connection. A line with `error` is thrown. */
  async *stream<Line>(name: StreamName, body: unknown): AsyncGenerator<Line, void, undefined> {
    const answer = await this.#send({ method: 'POST', path: `/v1/stream/${name}`, body }, { answerWithinMs: 0 });
    try {
      if (answer.status !== 200) throw protocolError(`status ${answer.status}`);
      for await (const line of jsonLines(answer.body)) {
        const { error } = line as { readonly error?: ApiError };
        if (error) throw fromApi(error);
        yield line as Line;
      }
    } catch (cause) {
      throw cause instanceof Broken ? daemonGone(undefined) : cause;
    } finally {
      answer.leave();
    }
  }

  async #ask<T>(message: Message, terms: Terms): Promise<T> {
    const { status, length, body } = await this.#send(message, terms);
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of body) chunks.push(chunk);
    } catch (cause) {
      throw cause instanceof Broken ? daemonGone(terms.requestId) : cause;
    }
    if (status === 413) throw usage('the request is too large for the daemon', ['pass large input as a file']);
    if (status !== 200) throw protocolError(`status ${status}`);
    const content = Buffer.concat(chunks);
    // Without a length nobody could tell a whole answer from the first half of one.
    if (length === undefined) throw protocolError('its length is missing');
    if (content.length < length) throw daemonGone(terms.requestId);
    try {
      return JSON.parse(content.toString('utf8')) as T;
    } catch {
      throw protocolError('it is not JSON');
    }
  }

  async #send(message: Message, { answerWithinMs, requestId }: Terms): Promise<Answer> {
    const { socket, pid } = this.#daemon;
    try {
      return await exchange(socket, message, answerWithinMs);
    } catch (cause) {
      if (cause instanceof Silent) throw daemonUnresponsive(pid, answerWithinMs);
      if (cause instanceof Broken) throw daemonGone(requestId);
      const { code } = cause as NodeJS.ErrnoException;
      // A full backlog (unix(7): EAGAIN) means that the process is there and accepts nothing.
      if (code === 'EAGAIN') throw daemonUnresponsive(pid, 0);
      if (code === 'ECONNREFUSED' || code === 'ENOENT' || code === 'ENOTDIR') throw new DaemonAbsent(code);
      throw cause;
    }
  }
}
