import { Observable, type Subscriber } from 'rxjs';
import type { ProcessIdentity } from '../../../machines/identity.ts';
import type { Clock } from '../clock.ts';
import type { LinuxAdapter, SampleRequest } from '../linux/adapter.ts';
import { isProblem } from '../linux/context.ts';
import type { Sample } from '../sample.ts';
import { Backoff, type BackoffOptions } from './backoff.ts';

/** A recorded process that somebody wants looked at. */
export interface DueProcess {
  /** Whom the observation is for; also the cursor. Keys of one source ascend. */
  readonly key: string;
  readonly request: SampleRequest;
  /** A fact asks for it (a receipt changed, an operator wants it): a pause after an unknown does not count. */
  readonly triggered?: boolean;
}

/** The unfinished runs and scopes, by index (OBS-11, -12): keys greater than `cursor`, ascending, at most `limit`. */
export type DueSource = (cursor: string | null, limit: number) => readonly DueProcess[];

export interface Observed {
  readonly key: string;
  readonly identity: ProcessIdentity;
  readonly sample: Sample;
  /** When an unknown is looked at again; null after an answer. */
  readonly retryAtMonoMs: number | null;
}

export type LaneEvent =
  | { readonly type: 'batch'; readonly observed: readonly Observed[]; readonly cursor: string }
  | {
      readonly type: 'passEnded';
      /** Where the next pass goes on; null when everything due was seen. */
      readonly cursor: string | null;
      readonly processed: number;
      /** Left alone because they pause after an unknown. */
      readonly paused: number;
      readonly reads: number;
      readonly elapsedMs: number;
    }
  | {
      readonly type: 'contextUnavailable';
      readonly reason: string;
      readonly detail: string;
      readonly retryAtMonoMs: number;
    }
  | { readonly type: 'deliveryFailed'; readonly error: unknown; readonly retryAtMonoMs: number };

export interface ObservationLaneOptions {
  readonly adapter: Pick<LinuxAdapter, 'context' | 'sampleSlice' | 'reads'>;
  readonly due: DueSource;
  /** Every value asks for one pass; what arrives during a pass asks for exactly one more. */
  readonly passes$: Observable<unknown>;
  readonly clock: Clock;
  /** Commits a batch. The next one is not sampled, and the cursor not moved, before it has resolved. */
  readonly deliver: (observed: readonly Observed[]) => Promise<void>;
  readonly batch?: number;
  readonly timeBudgetMs?: number;
  /** How many are looked at in one pass. */
  readonly countBudget?: number;
  /** How long the event loop may be held at once. */
  readonly sliceMs?: number;
  /** Where an earlier daemon stopped. */
  readonly cursor?: string | null;
  readonly backoff?: Backoff;
  /** Pauses after an unknown, and of the lane as a whole. */
  readonly pauses?: BackoffOptions;
}

const LANE = 'lane';

/** Lets timers, sockets and signals have their turn. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

class ObservationLane {
  readonly #options: Required<ObservationLaneOptions>;
  readonly #out: Subscriber<LaneEvent>;
  /** Pauses of the lane as a whole: no context, or a store that takes nothing. */
  readonly #laneBackoff: Backoff;
  #cursor: string | null;
  #wanted = false;
  #running = false;
  #inputOver = false;

  constructor(options: ObservationLaneOptions, out: Subscriber<LaneEvent>) {
    const pauses = options.pauses ?? {};
    const backoff = new Backoff(pauses);
    this.#options = {
      batch: 64,
      timeBudgetMs: 200,
      countBudget: Infinity,
      sliceMs: 4,
      cursor: null,
      backoff,
      pauses,
      ...options,
    };
    this.#laneBackoff = new Backoff(pauses);
    this.#out = out;
    this.#cursor = this.#options.cursor;
  }

  request(): void {
    this.#wanted = true;
    if (!this.#running) this.#run().catch((error) => this.#out.error(error));
  }

  inputOver(): void {
    this.#inputOver = true;
    if (!this.#running) this.#out.complete();
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#wanted && !this.#out.closed) {
      this.#wanted = false;
      if (this.#laneBackoff.isDue(LANE, this.#options.clock.monoMs())) await this.#pass();
    }
    this.#running = false;
    if (this.#inputOver) this.#out.complete();
  }

  async #pass(): Promise<void> {
    const { adapter, clock, due, batch, timeBudgetMs, countBudget } = this.#options;
    const startedMonoMs = clock.monoMs();
    const readsBefore = adapter.reads;
    let processed = 0;
    let paused = 0;
    let elapsedMs = 0;
    do {
      const limit = Math.min(batch, countBudget - processed);
      const candidates = due(this.#cursor, limit);
      if (candidates.length === 0) {
        this.#cursor = null;
        break;
      }
      const ready = candidates.filter((one) => one.triggered || this.#options.backoff.isDue(one.key, clock.monoMs()));
      const observed = ready.length === 0 ? [] : await this.#sample(ready);
      if (observed === undefined || !(await this.#deliver(observed))) return;
      this.#cursor = candidates.at(-1)!.key;
      processed += observed.length;
      paused += candidates.length - ready.length;
      if (observed.length > 0) this.#out.next({ type: 'batch', observed, cursor: this.#cursor });
      if (candidates.length < limit) this.#cursor = null;
      else await nextTurn();
      elapsedMs = clock.monoMs() - startedMonoMs;
    } while (this.#cursor !== null && elapsedMs < timeBudgetMs && processed < countBudget && !this.#out.closed);
    this.#laneBackoff.reset(LANE);
    const reads = adapter.reads - readsBefore;
    this.#out.next({
      type: 'passEnded',
      cursor: this.#cursor,
      processed,
      paused,
      reads,
      elapsedMs: Math.ceil(elapsedMs),
    });
  }

  /** Samples one batch in slices; undefined when the lane was left or nothing can be seen at present. */
  async #sample(ready: readonly DueProcess[]): Promise<Observed[] | undefined> {
    const { adapter, clock, sliceMs, backoff } = this.#options;
    const context = adapter.context();
    if (isProblem(context)) {
      const retryAtMonoMs = this.#laneBackoff.later(LANE, clock.monoMs());
      this.#out.next({ type: 'contextUnavailable', reason: context.problem, detail: context.detail, retryAtMonoMs });
      return undefined;
    }
    const observed: Observed[] = [];
    while (observed.length < ready.length) {
      if (observed.length > 0) await nextTurn();
      if (this.#out.closed) return undefined;
      const rest = ready.slice(observed.length);
      for (const sample of adapter.sampleSlice(
        rest.map((one) => one.request),
        { budgetMs: sliceMs, context },
      )) {
        const { key, request } = ready[observed.length]!;
        const retryAtMonoMs = sample.result === 'unknown' ? backoff.later(key, clock.monoMs()) : null;
        if (retryAtMonoMs === null) backoff.reset(key);
        observed.push({ key, identity: request.identity, sample, retryAtMonoMs });
      }
    }
    return observed;
  }

  async #deliver(observed: readonly Observed[]): Promise<boolean> {
    if (observed.length === 0) return true;
    try {
      await this.#options.deliver(observed);
      return !this.#out.closed;
    } catch (error) {
      const retryAtMonoMs = this.#laneBackoff.later(LANE, this.#options.clock.monoMs());
      this.#out.next({ type: 'deliveryFailed', error, retryAtMonoMs });
      return false;
    }
  }
}

/**
 * The reconciler's eyes: samples what is due in batches, hands each batch over to be committed, and moves on only then, so
 * that a death in the middle loses nothing and repeats at most one batch. A pass ends when everything due was seen or its
 * time or its count is used up; the next one continues at the cursor. Unknowns are asked again with a growing pause.
 *
 * Nothing queues up here: the lane pulls, and requests for passes merge. Completes when `passes$` has completed and the
 * current pass is over; unsubscribing stops it after the slice in work.
 */
export function observations$(options: ObservationLaneOptions): Observable<LaneEvent> {
  return new Observable((out) => {
    const lane = new ObservationLane(options, out);
    const input = options.passes$.subscribe({
      next: () => lane.request(),
      error: (error) => out.error(error),
      complete: () => lane.inputOver(),
    });
    return () => input.unsubscribe();
  });
}
