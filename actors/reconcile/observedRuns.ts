/**
 * The processes of runs that somebody else launched: which of them are due, by index and in order of creation, and what
 * becomes of what was seen. An unchanged sight is no event and renews one row, at most so often; an unknown is asked again
 * with a growing pause, which outlives the process that made it (OBS-04, OBS-11, OBS-12, RET-01).
 */
import { dueLink } from '../../machines/run.ts';
import type { Moment } from '../../persistence/clock.ts';
import type { Store } from '../../persistence/store.ts';
import type { Freshness } from '../../persistence/tables/freshness.ts';
import type { Host } from '../host/api.ts';
import type { Draft } from '../host/outcome.ts';
import type { Clock } from '../observe/clock.ts';
import { processFacts } from '../observe/facts.ts';
import { pauseAfter } from '../observe/streams/backoff.ts';
import type { DueProcess, Observed } from '../observe/streams/observations.ts';
import { intact } from '../runtime/actorAccess.ts';
import { createSequence } from '../runtime/runtime.ts';
import { draft } from '../runtime/submission.ts';

export interface ObservedRunsParts {
  readonly host: Host;
  readonly store: Store;
  readonly clock: Clock;
  /** Pauses after an unknown, in ms: the first one, and the longest. */
  readonly retryFirstMs: number;
  readonly retryLongestMs: number;
  /** How often the rows of what was seen are written, in ms: all that has changed, in one commit. */
  readonly freshnessRowMs: number;
}

export interface ObservedRuns {
  /** As DueSource: keys are row keys of runs, padded so that they sort. */
  due(cursor: string | null, limit: number): readonly DueProcess[];
  deliver(observed: readonly Observed[]): Promise<void>;
  /**
   * Writes what `deliver` has kept back, and in the same commit whatever `also` writes. It is no evidence: whoever dies
   * before it loses only when something was seen.
   */
  flush(also?: () => void): void;
  /** Due and left alone since the last call of this, because they pause after an unknown. */
  paused(): number;
}

const width = 16;
const keyOf = (row: number, runId: string): string => `${String(row).padStart(width, '0')}:${runId}`;
const rowOf = (key: string): number => Number(key.slice(0, width));
const idOf = (key: string): string => key.slice(width + 1);

const by = 'reconciler';

export function createObservedRuns(parts: ObservedRunsParts): ObservedRuns {
  const { host, store } = parts;
  const nextId = createSequence(store);
  const rows = new FreshnessRows(parts);
  const ids = new RunIds(store);
  let paused = 0;

  function due(cursor: string | null, limit: number): readonly DueProcess[] {
    const found: DueProcess[] = [];
    if (cursor === null) ids.forget();
    let after = cursor === null ? 0 : rowOf(cursor);
    while (found.length < limit) {
      const page = store.links.keysOf({ kind: 'run', name: dueLink, value: 'observe' }, after, limit - found.length);
      const last = page.at(-1);
      if (last === undefined) break;
      const pausing = rows.pausing(page);
      paused += pausing.size;
      for (const [key, id] of ids.of(page)) if (!pausing.has(key)) found.push(...dueOf(key, id));
      after = last;
    }
    return found;
  }

  function dueOf(row: number, runId: string): DueProcess[] {
    const run = intact(host, 'run', runId);
    const identity = run === 'corrupt' ? null : (run?.context.identity ?? null);
    return identity === null ? [] : [{ key: keyOf(row, runId), request: { identity } }];
  }

  async function deliver(observed: readonly Observed[]): Promise<void> {
    const drafts = observed.flatMap((one) => processDrafts({ host, nextId }, idOf(one.key), one));
    // Each for itself: a record that has changed meanwhile refuses its own sample (CONC-03).
    await Promise.all(drafts.map((single) => host.submit([single])));
    rows.saw(observed);
    rows.flushWhenDue();
  }

  return {
    due,
    deliver,
    flush: (also) => rows.flush(also),
    paused() {
      const count = paused;
      paused = 0;
      return count;
    },
  };
}

/** What a run has to hear of its process: nothing once it is over, nor what it has heard last (RET-01, CONC-03). */
export function processDrafts(
  { host, nextId }: { readonly host: Host; readonly nextId: (what: string) => string },
  runId: string,
  { identity, sample }: Observed,
): Draft[] {
  const run = intact(host, 'run', runId);
  if (run === undefined || run === 'corrupt') return [];
  const last = run.context.lastObservation;
  if (last?.result === sample.result && last.reason === sample.reason) return [];
  if (!run.matches({ lifecycle: 'bound' })) return [];
  const payload = processFacts(identity, sample, run.context.identityVersion);
  return [draft('process.observed', { to: ['run', runId], payload, by, eventId: nextId(`obs:${runId}`) })];
}

/** Times of another boot mean nothing: then it is asked at once (TIME-03). */
const isPausing = (row: Freshness | undefined, clock: Clock): boolean =>
  row !== undefined && row.retryMonoMs !== null && row.bootId === clock.bootId() && row.retryMonoMs > clock.monoMs();

/**
 * Which run has which row, asked for once and not at every pass: most of them are due again, and reading a thousand rows
 * costs as much as reading fifty processes. A row key is never given to another run.
 */
class RunIds {
  readonly #store: Pick<Store, 'actors'>;
  #known = new Map<number, string>();
  /** Of the round before. */
  #before = new Map<number, string>();

  constructor(store: Pick<Store, 'actors'>) {
    this.#store = store;
  }

  /** At the beginning of a round over all of them: whoever was due neither in it nor in the one before is forgotten. */
  forget(): void {
    this.#before = this.#known;
    this.#known = new Map();
  }

  of(keys: readonly number[]): Array<readonly [key: number, id: string]> {
    const unknown: number[] = [];
    for (const key of keys) {
      const id = this.#known.get(key) ?? this.#before.get(key);
      if (id === undefined) unknown.push(key);
      else this.#known.set(key, id);
    }
    if (unknown.length > 0) for (const [key, id] of this.#store.actors.idsOf(unknown)) this.#known.set(key, id);
    return keys.flatMap((key) => {
      const id = this.#known.get(key);
      return id === undefined ? [] : [[key, id] as const];
    });
  }
}

/** What was seen last of each process, kept back until it is worth a commit. */
class FreshnessRows {
  readonly #parts: ObservedRunsParts;
  readonly #pending = new Map<number, Freshness>();
  #flushedMonoMs: number;

  constructor(parts: ObservedRunsParts) {
    this.#parts = parts;
    this.#flushedMonoMs = parts.clock.monoMs();
  }

  /** Which of these pause after an unknown. */
  pausing(rows: readonly number[]): ReadonlySet<number> {
    const { store, clock } = this.#parts;
    const stored = store.freshness.pausing(rows);
    return new Set(rows.filter((row) => isPausing(this.#pending.get(row) ?? stored.get(row), clock)));
  }

  /** All at this moment, so that those of which the same is to be said share one row. */
  saw(observed: readonly Observed[]): void {
    const at = this.#parts.clock.now();
    const shared = new Map<string, Freshness>();
    for (const { key, sample } of observed) {
      const row = rowOf(key);
      const failures = sample.result === 'unknown' ? this.#failuresOf(row) + 1 : 0;
      const name = `${sample.result} ${sample.reason} ${failures}`;
      const seen = shared.get(name) ?? this.#freshness(sample, failures, at);
      shared.set(name, seen);
      this.#pending.set(row, seen);
    }
  }

  #failuresOf(row: number): number {
    return (this.#pending.get(row) ?? this.#parts.store.freshness.of(row))?.failures ?? 0;
  }

  #freshness({ result, reason }: Observed['sample'], failures: number, at: Moment): Freshness {
    const { retryFirstMs, retryLongestMs } = this.#parts;
    const pauseMs = pauseAfter(failures, { firstMs: retryFirstMs, longestMs: retryLongestMs });
    const retryMonoMs = failures > 0 ? Math.ceil(at.monoMs + pauseMs) : null;
    return { result, reason, ...at, failures, retryMonoMs };
  }

  flushWhenDue(): void {
    const { clock, freshnessRowMs } = this.#parts;
    if (clock.monoMs() - this.#flushedMonoMs >= freshnessRowMs) this.flush();
  }

  flush(also?: () => void): void {
    const { store, clock } = this.#parts;
    this.#flushedMonoMs = clock.monoMs();
    if (this.#pending.size === 0 && also === undefined) return;
    const alike = new Map<Freshness, number[]>();
    for (const [row, seen] of this.#pending) {
      const rows = alike.get(seen);
      if (rows === undefined) alike.set(seen, [row]);
      else rows.push(row);
    }
    store.write(() => {
      for (const [seen, rows] of alike) store.freshness.put(rows, seen);
      also?.();
    });
    this.#pending.clear();
  }
}
