/** The thread, started by the first that needs it and given up when it takes too long. */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../actors/observe/clock.ts';
import { OperatingError } from '../../../actors/runtime/operatingError.ts';
import type { FromThread, Results, ToThread, Work } from './protocol.ts';

/** Longer than the slowest drawing, and than the largest transcript takes to be shown. */
const patienceMs = 60_000;

interface Waiter {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

export class Beside {
  readonly #program: URL;
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Waiter>();
  #worker: Worker | undefined;
  #lastId = 0;

  constructor(program: URL, clock: Clock) {
    this.#program = program;
    this.#clock = clock;
  }

  /** Throws `inspector_thread_failed`. */
  async work<Verb extends Work['do']>(work: Extract<Work, { do: Verb }>): Promise<Results[Verb]> {
    const id = ++this.#lastId;
    const worker = this.#started();
    const stopClock = this.#clock.wakeAt(this.#clock.monoMs() + patienceMs, () => void this.close('it took too long'));
    try {
      return await new Promise<Results[Verb]>((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject });
        worker.postMessage({ ...work, id } satisfies ToThread);
      });
    } finally {
      stopClock();
      this.#waiting.delete(id);
    }
  }

  async close(why = 'the inspector was closed'): Promise<void> {
    const worker = this.#worker;
    this.#lost(worker, why);
    await worker?.terminate();
  }

  #started(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(this.#program);
    worker.unref();
    worker.on('message', (message: FromThread) => {
      const waiter = this.#waiting.get(message.id);
      if ('failure' in message) waiter?.reject(failed(message.failure));
      else waiter?.resolve(message.result as never);
    });
    worker.on('error', (error) => this.#lost(worker, error.message));
    worker.on('exit', () => this.#lost(worker, 'the thread ended'));
    this.#worker = worker;
    return worker;
  }

  #lost(worker: Worker | undefined, why: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(failed(why));
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
