import {
  from,
  Observable,
  type ObservableInput,
  type OperatorFunction,
  type Subscriber,
  type Subscription,
} from 'rxjs';

/** What did not fit. It becomes a coverage gap in the journal; a loss that nobody is told of does not exist here (CONC-05). */
export interface OverflowGap {
  readonly kind: 'overflowGap';
  readonly producer: string;
  readonly dropped: number;
  readonly window: { readonly fromMonoMs: number; readonly toMonoMs: number };
}

export interface InOrderOptions<T, R> {
  /** Names the stream in its gaps. */
  readonly producer: string;
  /** Values of one key are processed one after another and in the order of arrival. */
  readonly keyOf: (value: T) => string;
  readonly project: (value: T) => ObservableInput<R>;
  /** Values that wait, those in work not counted. */
  readonly limit: number;
  /** Keys in work at once. */
  readonly concurrency?: number;
  readonly monoMs: () => number;
}

class OrderedWork<T, R> {
  readonly #options: InOrderOptions<T, R>;
  readonly #out: Subscriber<R | OverflowGap>;
  readonly #concurrency: number;
  readonly #waiting = new Map<string, T[]>();
  readonly #ready: string[] = [];
  readonly #active = new Map<string, Subscription | undefined>();
  #waitingCount = 0;
  #gap: { dropped: number; fromMonoMs: number; toMonoMs: number } | undefined;
  #inputOver = false;
  #pumping = false;

  constructor(options: InOrderOptions<T, R>, out: Subscriber<R | OverflowGap>) {
    this.#options = options;
    this.#out = out;
    this.#concurrency = options.concurrency ?? 1;
  }

  push(value: T): void {
    if (this.#waitingCount >= this.#options.limit) {
      this.#drop();
      return;
    }
    const key = this.#options.keyOf(value);
    const queue = this.#waiting.get(key);
    if (queue !== undefined) queue.push(value);
    else {
      this.#waiting.set(key, [value]);
      if (!this.#active.has(key)) this.#ready.push(key);
    }
    this.#waitingCount += 1;
    this.#pump();
  }

  inputOver(): void {
    this.#inputOver = true;
    this.#pump();
  }

  stop(): void {
    for (const work of this.#active.values()) work?.unsubscribe();
    this.#active.clear();
    this.#waiting.clear();
    this.#ready.length = 0;
  }

  #drop(): void {
    const now = Math.floor(this.#options.monoMs());
    this.#gap ??= { dropped: 0, fromMonoMs: now, toMonoMs: now };
    this.#gap.dropped += 1;
    this.#gap.toMonoMs = now;
  }

  /** A gap closes once half of the room is free again, so that one burst is one gap and not a gap for every value lost. */
  #reportGap(): void {
    if (this.#gap === undefined || this.#waitingCount > this.#options.limit / 2) return;
    const { dropped, fromMonoMs, toMonoMs } = this.#gap;
    this.#gap = undefined;
    this.#out.next({
      kind: 'overflowGap',
      producer: this.#options.producer,
      dropped,
      window: { fromMonoMs, toMonoMs },
    });
  }

  #pump(): void {
    // Work may complete while it is being started; the outer call then goes on instead of recursing once per value.
    if (this.#pumping) return;
    this.#pumping = true;
    while (this.#active.size < this.#concurrency && this.#ready.length > 0 && !this.#out.closed) {
      this.#start(this.#ready.shift()!);
      this.#reportGap();
    }
    this.#pumping = false;
    if (this.#inputOver && this.#active.size === 0 && this.#waitingCount === 0) this.#out.complete();
  }

  #start(key: string): void {
    const queue = this.#waiting.get(key)!;
    const value = queue.shift()!;
    if (queue.length === 0) this.#waiting.delete(key);
    this.#waitingCount -= 1;
    this.#active.set(key, undefined);
    const work = from(this.#options.project(value)).subscribe({
      next: (result) => this.#out.next(result),
      error: (error) => this.#out.error(error),
      complete: () => this.#finish(key),
    });
    if (this.#active.has(key) && !work.closed) this.#active.set(key, work);
  }

  #finish(key: string): void {
    this.#active.delete(key);
    if (this.#waiting.has(key)) this.#ready.push(key);
    this.#pump();
  }
}

/**
 * Does asynchronous work for every value, in order for each key, with a bounded queue in front. A value that finds the
 * queue full is dropped and counted; the gap is emitted in the same stream as soon as half of the queue has drained.
 *
 * Completes when the source has completed and all accepted work is done; an error of the work or of the source ends it at
 * once. Unsubscribing unsubscribes from all work in progress.
 */
export function inOrder<T, R>(options: InOrderOptions<T, R>): OperatorFunction<T, R | OverflowGap> {
  return (source$) =>
    new Observable((out) => {
      const work = new OrderedWork(options, out);
      const input = source$.subscribe({
        next: (value) => work.push(value),
        error: (error) => out.error(error),
        complete: () => work.inputOver(),
      });
      return () => {
        input.unsubscribe();
        work.stop();
      };
    });
}
