/**
 * Writes down what was measured: at most every so often, in a transaction of its own that is measured nowhere, and never in
 * one that it measures. Whoever is killed loses what was measured since; the journal and gaps are counted where they stand,
 * so nothing of them is lost (METR-01).
 */
import { type CommitMinute, minuteOf } from '../../persistence/commitMeter.ts';
import { takeRefusals } from '../../persistence/refusals.ts';
import type { Store } from '../../persistence/store.ts';
import type { Pass } from '../../persistence/tables/passes.ts';
import type { Recovery } from '../../persistence/tables/recoveries.ts';
import type { Clock } from '../observe/clock.ts';
import { type ContradictionParts, searchContradictions } from './contradictions.ts';

export interface RecorderParts extends Pick<ContradictionParts, 'host' | 'adapter'> {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now' | 'monoMs' | 'boottimeMs'>;
}

/** While the store takes nothing, the oldest go first. */
const waitingAtMost = 1_000;

export class Recorder {
  readonly #parts: RecorderParts;
  readonly #passes: Pass[] = [];
  readonly #recoveries: Recovery[] = [];

  constructor(parts: RecorderParts) {
    this.#parts = parts;
  }

  pass(pass: Pass): void {
    keep(this.#passes, pass);
  }

  recovered(who: Recovery['who'], elapsedMs: number): void {
    const { wallMs } = this.#parts.clock.now();
    keep(this.#recoveries, { wallMs, who, elapsedUs: Math.round(elapsedMs * 1_000) });
  }

  /** Whether this process has measured something that is not written down. */
  get isWaiting(): boolean {
    return this.#passes.length + this.#recoveries.length + this.#parts.store.commits.pending().length > 0;
  }

  /** Writes nothing when nothing is new. Throws StoreError; everything waits for the next time then. */
  record(): void {
    const { store, clock } = this.#parts;
    const { totals, journal, commits } = store;
    const searchedUpTo = totals.of('contradictions_position');
    const search = searchContradictions(this.#parts, searchedUpTo);
    const position = journal.lastPosition();
    const journaled = Math.max(0, position - totals.of('journal_position'));
    const { refused, seen } = takeRefusals(store.stateDir, totals);
    if (!this.isWaiting && journaled === 0 && refused === 0 && search.upTo === searchedUpTo) return;
    const minutes = withRest(commits.pending(), minuteOf(clock.now().wallMs), { journaled, refused });
    store.writeUncounted(() => {
      for (const minute of minutes) store.commitMinutes.add(minute);
      for (const pass of this.#passes) store.passes.add(pass);
      for (const recovery of this.#recoveries) store.recoveries.add(recovery);
      for (const contradiction of search.found) store.contradictions.record(contradiction);
      totals.set('journal_position', position);
      totals.set('contradictions_position', search.upTo);
      totals.set('refusals_seen', seen);
    });
    commits.written();
    this.#passes.length = 0;
    this.#recoveries.length = 0;
  }
}

function keep<T>(list: T[], one: T): void {
  list.push(one);
  if (list.length > waitingAtMost) list.shift();
}

/** What has no minute of its own counts in this one: what the journal got since it was last counted, and who was refused. */
const withRest = (
  minutes: readonly CommitMinute[],
  minute: number,
  { journaled, refused }: { readonly journaled: number; readonly refused: number },
) => [
  ...minutes.map((one) => ({ ...one, journaled: 0 })),
  {
    minute,
    attempts: refused,
    busy: refused,
    committed: 0,
    longestUs: 0,
    buckets: new Map<number, number>(),
    journaled,
  },
];
