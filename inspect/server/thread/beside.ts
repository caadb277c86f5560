/**
 * The thread, started by the first that needs it, and given up when something takes too long. One thing is worked out after
 * the other, and the time counts from when it is begun: whoever waits behind a long transcript loses nothing by it. What
 * nobody waits for any more is not begun, and left where it stands if it was.
 */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../actors/observe/clock.ts';
import { OperatingError } from '../../../actors/runtime/operatingError.ts';
import type { FromThread, Results, ToThread, Work } from './protocol.ts';

/** Longer than the slowest drawing, and than the largest transcript takes to be shown. */
const patienceMs = 60_000;

interface Asked {
  readonly id: number;
  readonly work: Work;
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

export class Beside {
  readonly #program: URL;
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Asked>();
  #worker: Worker | undefined;
  /** What the thread is at, and how to stop the clock that watches it. */
  #begun: { readonly asked: Asked; readonly stopClock: () => void } | undefined;
  #lastId = 0;

  constructor(program: URL, clock: Clock) {
    this.#program = program;
    this.#clock = clock;
  }

  /** Throws `inspector_thread_failed`, also when `signal` says that nobody waits any more. */
  async work<Verb extends Work['do']>(work: Extract<Work, { do: Verb }>, signal?: AbortSignal): Promise<Results[Verb]> {
    this.#lastId += 1;
    const id = this.#lastId;
    const abandon = () => this.#abandon(id);
    try {
      return await new Promise<Results[Verb]>((resolve, reject) => {
        this.#waiting.set(id, { id, work, resolve, reject });
        signal?.addEventListener('abort', abandon);
        if (signal?.aborted) abandon();
        else this.#next();
      });
    } finally {
      signal?.removeEventListener('abort', abandon);
    }
  }

  async close(why = 'the inspector was closed'): Promise<void> {
    for (const { reject } of this.#waiting.values()) reject(failed(why));
    this.#waiting.clear();
    await this.#giveUp(why);
  }

  #next(): void {
    const [asked] = this.#waiting.values();
    if (asked === undefined || this.#begun !== undefined) return;
    const { id, work } = asked;
    this.#waiting.delete(id);
    const stopClock = this.#clock.wakeAt(
      this.#clock.monoMs() + patienceMs,
      () => void this.#giveUp('it took too long'),
    );
    this.#begun = { asked, stopClock };
    this.#started().postMessage({ ...work, id } satisfies ToThread);
  }

  #started(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(this.#program);
    worker.unref();
    worker.on('message', (message: FromThread) => {
      const asked = this.#ended(message.id);
      if ('failure' in message) asked?.reject(failed(message.failure));
      else asked?.resolve(message.result as never);
      this.#next();
    });
    worker.on('error', (error) => this.#lost(worker, error.message));
    worker.on('exit', () => this.#lost(worker, 'the thread ended'));
    this.#worker = worker;
    return worker;
  }

  #ended(id: number): Asked | undefined {
    if (this.#begun?.asked.id !== id) return undefined;
    const { asked, stopClock } = this.#begun;
    stopClock();
    this.#begun = undefined;
    return asked;
  }

  #abandon(id: number): void {
    const left = failed('whoever asked has left');
    this.#waiting.get(id)?.reject(left);
    this.#waiting.delete(id);
    if (this.#begun?.asked.id !== id) return;
    this.#begun.asked.reject(left);
    this.#worker?.postMessage({ abandon: id } satisfies ToThread);
  }

  async #giveUp(why: string): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#lost(worker, why);
    await worker.terminate();
  }

  /** Those who wait go on with another thread. */
  #lost(worker: Worker, why: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    if (this.#begun !== undefined) this.#ended(this.#begun.asked.id)?.reject(failed(why));
    this.#next();
  }
}

const failed = (why: string): OperatingError =>
  new OperatingError({
    code: 'inspector_thread_failed',
    message: `what was asked for could not be worked out: ${why}`,
    exitCode: 10,
    retryable: true,
    next: ['ask again', 'custody inspect --close, then custody inspect'],
  });
