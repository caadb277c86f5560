/** The demonstration's own installation, asked the way the command line asks any. */
import type { CallArguments, CallName } from '../../actors/daemon/api/contract.ts';
import type { CallResults } from '../../actors/daemon/api/results.ts';
import type { ApiError, CaptureView, Reply } from '../../actors/daemon/api/views.ts';
import type { InitView } from '../../actors/daemon/initialise.ts';
import { ensureServing, findServing, type Serving } from '../autostart.ts';
import { DaemonAbsent } from '../client.ts';
import { daemonNotRunning, fromApi } from '../failure.ts';
import { expectThat } from './expectation.ts';
import { unlessAborted } from './interruption.ts';
import type { Scratch } from './scratch.ts';

type LogLine = { readonly stream: 'stdout'; readonly data: string } | { readonly end: readonly CaptureView[] };

export class Installation {
  readonly #scratch: Scratch;
  readonly #signal: AbortSignal;
  #serving: Serving | undefined;
  #everStarted = false;

  constructor(scratch: Scratch, signal: AbortSignal) {
    this.#scratch = scratch;
    this.#signal = signal;
  }

  async init(): Promise<InitView> {
    const { initialise } = await import('../../actors/daemon/initialise.ts');
    this.#signal.throwIfAborted();
    return initialise({ places: this.#scratch.places, checkOnly: false });
  }

  /** Not given up half way: what has been started is known, and so can be ended. */
  async start(): Promise<Serving['hello']> {
    this.#signal.throwIfAborted();
    this.#everStarted = true;
    this.#serving = await ensureServing(this.#scratch.places);
    this.#signal.throwIfAborted();
    return this.#serving.hello;
  }

  async isServing(): Promise<boolean> {
    return (await unlessAborted(findServing(this.#scratch.places), this.#signal)) !== undefined;
  }

  /** Throws what the daemon refuses. */
  async call<Name extends CallName>(name: Name, args: CallArguments<Name>): Promise<CallResults[Name]> {
    const reply = await this.#reply(name, args);
    if (!reply.ok) throw fromApi(reply.error);
    return reply.data;
  }

  /** For what has to be refused. */
  async refusal<Name extends CallName>(name: Name, args: CallArguments<Name>): Promise<ApiError> {
    const reply = await this.#reply(name, args);
    expectThat(!reply.ok, `${name} is refused`, reply);
    return reply.error;
  }

  #reply<Name extends CallName>(name: Name, args: CallArguments<Name>): Promise<Reply<CallResults[Name]>> {
    this.#signal.throwIfAborted();
    if (this.#serving === undefined) throw daemonNotRunning(this.#scratch.places.stateDir);
    const { client } = this.#serving;
    return unlessAborted(client.call<CallResults[Name]>(name, args as { readonly requestId?: string }), this.#signal);
  }

  /** The run's output, line by line and as it grows, until nothing of the run is left or the caller leaves the loop. */
  async *lines(runId: string): AsyncGenerator<string, void, undefined> {
    if (this.#serving === undefined) throw daemonNotRunning(this.#scratch.places.stateDir);
    const source = this.#serving.client.stream<LogLine>('runs.logs', {
      id: runId,
      stream: 'stdout',
      follow: true,
      until: 'proved',
    });
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for (;;) {
        const { value, done } = await unlessAborted(source.next(), this.#signal);
        if (done || 'end' in value) break;
        const lines = (rest + decoder.decode(Buffer.from(value.data, 'base64'), { stream: true })).split('\n');
        rest = lines.pop() as string;
        yield* lines;
      }
    } finally {
      // A step that never ends is left alone: it holds nothing but a connection, which the daemon's end closes.
      if (!this.#signal.aborted) await source.return();
    }
    if (rest !== '') yield rest;
  }

  /**
   * Ends all work with proof and then the daemon, whatever state they are in; a dead daemon is started once more, because
   * only a daemon can end what its predecessor has left. Undefined when there never was one.
   */
  async stop(): Promise<CallResults['daemon.stop'] | undefined> {
    if (!this.#everStarted) return undefined;
    const { client } = await ensureServing(this.#scratch.places);
    const reply = await client.call<CallResults['daemon.stop']>('daemon.stop', {}, stopWithinMs);
    if (!reply.ok) throw fromApi(reply.error);
    try {
      for (;;) {
        await client.hello();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    } catch (cause) {
      const isGone = cause instanceof DaemonAbsent || (cause as { readonly code?: string }).code === 'daemon_gone';
      if (!isGone) throw cause;
    }
    return reply.data;
  }
}

/** Longer than any drain of ours takes; without it a daemon that hangs would hang its user's terminal too. */
const stopWithinMs = 45_000;
