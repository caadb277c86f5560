/** Clients that keep a daemon busy, and repeat each request under its id until it is answered, however often it dies. */
import type { CallArguments, CallName } from '../../../actors/daemon/api/contract.ts';
import type { Reply } from '../../../actors/daemon/api/views.ts';
import type { TestDaemon } from '../../support/daemon.ts';

export interface Answered {
  readonly name: CallName;
  readonly requestId: string;
  // biome-ignore lint/suspicious/noExplicitAny: each call has data of its own; the checks know which
  readonly data: any;
  /** How often the daemon was gone before it answered. */
  readonly losses: number;
}

/** A daemon that is killed from time to time. Whoever meets a dead one waits for its successor. */
export class MortalDaemon {
  readonly daemon: TestDaemon;
  readonly answered: Answered[] = [];
  #serving: Promise<unknown> = Promise.resolve();
  #answersLeft = Number.POSITIVE_INFINITY;
  #dead: () => void = () => {};

  constructor(daemon: TestDaemon) {
    this.daemon = daemon;
  }

  /** Kills it so many answers and turns of the event loop later, and starts it again; resolves when it serves. */
  async killAfter(answers: number, turns: number): Promise<void> {
    const died = new Promise<void>((resolve) => {
      this.#dead = resolve;
    });
    this.#answersLeft = answers;
    await died;
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    this.#serving = this.daemon.restart();
    await this.#serving;
  }

  /**
   * Repeats the request until somebody answers it. A machine that is out of processes or of time for a while defers it;
   * where that was a launch it is answered, about a run that never ran. Any other refusal is thrown.
   */
  async ask<Name extends CallName>(name: Name, args: CallArguments<Name> & { requestId: string }) {
    for (let losses = 0; ; losses += 1) {
      const reply = await this.#attempt(name, args);
      if (reply === undefined) continue;
      const { requestId } = args;
      const data = reply.ok ? reply.data : reply.error.details;
      const isAnswered = reply.ok || reply.error.details?.runId !== undefined;
      if (!isAnswered && reply.error.retryable) continue;
      if (!isAnswered) throw new Error(`${name} ${requestId}: ${JSON.stringify(reply)}`);
      this.answered.push({ name, requestId, data, losses });
      this.#answersLeft -= 1;
      if (this.#answersLeft === 0) this.#dead();
      return data;
    }
  }

  async #attempt<Name extends CallName>(name: Name, args: CallArguments<Name>): Promise<Reply<unknown> | undefined> {
    await this.#serving;
    try {
      return await this.daemon.attempt(name, args);
    } catch (error) {
      const { name: kind, code } = error as { name?: string; code?: string };
      if (kind !== 'DaemonAbsent' && code !== 'daemon_gone') throw error;
      // Its death may be known here before it is known there.
      await new Promise((resolve) => setImmediate(resolve));
      return undefined;
    }
  }
}
