/** The command line's end of the API. One connection per request, so that a process that has its answer ends at once. */
import { setTimeout } from 'node:timers/promises';
import { audiences } from '../actors/daemon/api/authority.ts';
import type { CallName, StreamName } from '../actors/daemon/api/contract.ts';
import type { ApiError, Reply } from '../actors/daemon/api/views.ts';
import type { OperatingError } from '../actors/runtime/operatingError.ts';
import type { Rendezvous } from '../actors/runtime/places.ts';
import { daemonGone, daemonUnresponsive, fromApi, protocolError, usage } from './failure.ts';
import { jsonLines } from './jsonLines.ts';
import { type Answer, Broken, exchange, type Message, type Patience, Silent } from './wire.ts';

export interface Hello {
  readonly protocol: number;
  readonly version: string;
  readonly pid: number;
  readonly startNumber: number;
  readonly stateDir: string;
  /** The unit that a service manager looks after it by, or null; an earlier daemon does not say, and knows no `verb` and `via`. */
  readonly service?: string | null;
}

/** Nobody listens at the address: nothing was sent, so starting a daemon and asking again is safe. */
export class DaemonAbsent extends Error {
  override readonly name = 'DaemonAbsent';
}

interface Terms extends Patience {
  readonly requestId?: string | undefined;
}

/** How often a daemon that works is asked whether it is still there, and how long it may take to say so. */
export interface Watch {
  readonly everyMs: number;
  readonly withinMs: number;
}

const attentive: Watch = { everyMs: 15_000, withinMs: 15_000 };
/** A stream costs nothing to leave, and people look at it. */
const curious: Watch = { everyMs: 5_000, withinMs: 5_000 };

/** Told for how long the daemon has not answered, each time it was asked in vain, and 0 when it answers again. */
export type OnSilence = (silentMs: number, pid: number) => void;

export class Client {
  readonly #daemon: Pick<Rendezvous, 'socket' | 'pid'>;
  readonly #credential: () => string | undefined;

  /** `credential` is asked for what to show when a command is not for anyone; what it throws, the command throws. */
  constructor(daemon: Pick<Rendezvous, 'socket' | 'pid'>, credential: () => string | undefined) {
    this.#daemon = daemon;
    this.#credential = credential;
  }

  #shown(name: CallName | StreamName): string | undefined {
    return audiences[name] === 'anyone' ? undefined : this.#credential();
  }

  /** Throws DaemonAbsent, or `daemon_gone`, `daemon_unresponsive` and `protocol_error`. A refusal is a Reply. */
  async call<Data>(name: CallName, body: { readonly requestId?: string }, answerWithinMs = 0): Promise<Reply<Data>> {
    return this.#call(name, body, { answerWithinMs });
  }

  /**
   * A call that may take as long as its work takes. A daemon that does not even say hello meanwhile is stopped or
   * starved: throws `daemon_unresponsive` then, with the request id under which the call can be repeated.
   */
  async watchedCall<Data>(
    name: CallName,
    body: { readonly requestId?: string },
    watch: Watch = attentive,
  ): Promise<Reply<Data>> {
    const over = new AbortController();
    const silent = this.#silence(watch, over.signal);
    const call = this.#call<Data>(name, body, { answerWithinMs: 0, signal: over.signal });
    try {
      return await Promise.race([call, silent]);
    } catch (cause) {
      const { code } = cause as OperatingError;
      if (code !== 'daemon_unresponsive') throw cause;
      throw daemonUnresponsive(this.#daemon.pid, watch.withinMs, body.requestId);
    } finally {
      over.abort();
      // What is given up ends with an error that nobody waits for any more.
      for (const given of [call, silent]) given.catch(() => undefined);
    }
  }

  async #call<Data>(name: CallName, body: { readonly requestId?: string }, patience: Patience): Promise<Reply<Data>> {
    const terms = { ...patience, requestId: body.requestId };
    const message = { method: 'POST', path: `/v1/call/${name}`, body, credential: this.#shown(name) } as const;
    const reply = await this.#ask<Reply<Data>>(message, terms);
    if (typeof reply?.ok !== 'boolean') throw protocolError('it is no reply');
    return reply;
  }

  /** Rejects when a hello stays without an answer. Whatever else happens to one says nothing about the call's own way. */
  async #silence({ everyMs, withinMs }: Watch, signal: AbortSignal): Promise<never> {
    for (;;) {
      await setTimeout(everyMs, undefined, { signal });
      await this.#ask({ method: 'GET', path: '/v1/hello' }, { answerWithinMs: withinMs, signal }).catch((cause) => {
        if (cause.code === 'daemon_unresponsive') throw cause;
      });
    }
  }

  hello(answerWithinMs = 5_000): Promise<Hello> {
    return this.#ask<Hello>({ method: 'GET', path: '/v1/hello' }, { answerWithinMs });
  }

  /**
   * Lines until the daemon ends the stream; leaving the loop closes the connection. A line with `error` is thrown. A daemon
   * that has stopped sends none and ends nothing: that is told, and the stream goes on (D3).
   */
  async *stream<Line>(
    name: StreamName,
    body: unknown,
    { onSilence, watch = curious }: { readonly onSilence?: OnSilence; readonly watch?: Watch } = {},
  ): AsyncGenerator<Line, void, undefined> {
    const over = new AbortController();
    if (onSilence) this.#tellSilence(onSilence, watch, over.signal).catch(() => undefined);
    try {
      yield* this.#lines<Line>(name, body);
    } finally {
      over.abort();
    }
  }

  /** Rejects when `signal` is aborted, and never before. */
  async #tellSilence(onSilence: OnSilence, { everyMs, withinMs }: Watch, signal: AbortSignal): Promise<never> {
    let since: number | undefined;
    for (;;) {
      await setTimeout(everyMs, undefined, { signal });
      const askedAt = performance.now();
      const code = await this.#ask({ method: 'GET', path: '/v1/hello' }, { answerWithinMs: withinMs, signal }).then(
        () => 'answered',
        (cause) => cause.code,
      );
      signal.throwIfAborted();
      if (code === 'daemon_unresponsive') {
        since ??= askedAt;
        onSilence(performance.now() - since, this.#daemon.pid);
      } else if (since !== undefined) {
        since = undefined;
        onSilence(0, this.#daemon.pid);
      }
    }
  }

  async *#lines<Line>(name: StreamName, body: unknown): AsyncGenerator<Line, void, undefined> {
    const message = { method: 'POST', path: `/v1/stream/${name}`, body, credential: this.#shown(name) } as const;
    const answer = await this.#send(message, { answerWithinMs: 0 });
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

  async #send(message: Message, { requestId, ...patience }: Terms): Promise<Answer> {
    const { socket, pid } = this.#daemon;
    try {
      return await exchange(socket, message, patience);
    } catch (cause) {
      if (cause instanceof Silent) throw daemonUnresponsive(pid, patience.answerWithinMs);
      if (cause instanceof Broken) throw daemonGone(requestId);
      const { code } = cause as NodeJS.ErrnoException;
      // A full backlog (unix(7): EAGAIN) means that the process is there and accepts nothing.
      if (code === 'EAGAIN') throw daemonUnresponsive(pid, 0);
      if (code === 'ECONNREFUSED' || code === 'ENOENT' || code === 'ENOTDIR') throw new DaemonAbsent(code);
      // It died with the connection in its queue (unix(7)).
      if (code === 'ECONNRESET') throw daemonGone(requestId);
      throw cause;
    }
  }
}
