/**
 * The policy step that forgets event ids (RET-03). Only ids that a start of the daemon has numbered can be forgotten: what
 * carries the number of a start behind the horizon can be nothing but a repeat, and is refused for good. The horizon is
 * committed and put on record before the first id goes.
 */
import { isBefore, type Start, startOf } from '../../machines/sequencedId.ts';
import type { Store } from '../store.ts';
import type { DedupCursor } from '../tables/dedup.ts';

const horizonName = 'dedup.horizon';

/** The oldest start whose event ids are still known; undefined while all are. */
export function horizonOf({ meta }: Pick<Store, 'meta'>): Start | undefined {
  const text = meta.get(horizonName);
  return text === undefined ? undefined : (JSON.parse(text) as Start);
}

/** Whether an id that is not known has to be refused: it is from behind the horizon. */
export function isExpired(store: Pick<Store, 'meta'>, eventId: string): boolean {
  const start = startOf(eventId);
  if (start === undefined) return false;
  const horizon = horizonOf(store);
  return horizon !== undefined && isBefore(start, horizon);
}

/** Where a horizon is that keeps the ids of the newest `starts` starts, this one included; never behind the present one. */
export function horizonFor(store: Pick<Store, 'meta' | 'epoch' | 'startNumber'>, starts: number): Start {
  const wanted = { epoch: store.epoch, startNumber: Math.max(1, store.startNumber - Math.max(1, starts) + 1) };
  const present = horizonOf(store);
  return present !== undefined && isBefore(wanted, present) ? present : wanted;
}

export interface Forgetting {
  readonly store: Store;
  readonly horizon: Start;
  readonly wallMs: number;
  /** Rows that one step looks at. */
  readonly rows: number;
  readonly dryRun: boolean;
}

/** Every id that a start has numbered begins with a small letter. */
const beginning: DedupCursor = { eventId: 'a', actorKey: 0 };

/** One bounded step between two yields; the value is how many ids are behind the horizon so far. Throws StoreError. */
export function* forgetEventIds({ store, horizon, wallMs, rows, dryRun }: Forgetting): Generator<number, number> {
  if (!dryRun) {
    store.write(() => {
      store.meta.set(horizonName, JSON.stringify(horizon));
      const position = store.journal.lastPosition();
      store.retentions.insert({ wallMs, what: 'event_ids', position, report: { horizon } });
    });
  }
  let forgotten = 0;
  for (let after: DedupCursor | undefined = beginning; after !== undefined; ) {
    yield forgotten;
    const from: DedupCursor = after;
    const step = () => {
      const { rows: found, next } = store.dedup.sequenced(from, rows);
      const behind = found.filter(({ start }) => isBefore(start, horizon));
      if (!dryRun) for (const row of behind) store.dedup.remove(row);
      return { next, count: behind.length };
    };
    const { next, count } = dryRun ? step() : store.write(step);
    forgotten += count;
    after = next;
  }
  return forgotten;
}
