/**
 * One pass over the observed runs that are due (OBS-12, INT-11): bounded by time and count, resumed where the last one
 * stopped, whoever made that. It reads procfs of recorded processes and the store, and nothing else: no directory, no
 * worktree, no git, no subprocess.
 */
import type { Store } from '../../persistence/store.ts';
import type { Clock } from '../observe/clock.ts';
import type { LinuxAdapter } from '../observe/linux/adapter.ts';
import type { LaneEvent } from '../observe/streams/observations.ts';
import { observeOnce } from '../observe/streams/once.ts';
import type { ObservedRuns } from './observedRuns.ts';

export interface PassRequest {
  readonly runs: ObservedRuns;
  readonly store: Store;
  readonly adapter: LinuxAdapter;
  readonly clock: Clock;
  readonly maxMs: number;
  readonly maxCount: number;
  readonly batch: number;
}

export interface PassReport {
  readonly lookedAt: number;
  /** Everything due was looked at; otherwise the next pass goes on where this one stopped. */
  readonly complete: boolean;
  /** Left alone because they pause after an unknown. */
  readonly paused: number;
  /** How many were seen as what: `alive`, `ended`, or `unknown:` and the reason. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly reads: number;
  readonly elapsedMs: number;
  /** Why nothing could be looked at at all; null when it could. */
  readonly unavailable: string | null;
}

const cursorRow = 'observe.cursor';

/** Rejects with StoreError when what was seen could not be committed; the cursor stays where it was then. */
export async function reconcileOnce(request: PassRequest): Promise<PassReport> {
  const { runs, store, adapter, clock, maxMs: timeBudgetMs, maxCount: countBudget, batch } = request;
  const cursor = store.meta.get(cursorRow) || null;
  const startedMonoMs = clock.monoMs();
  const { due, deliver } = runs;
  const events = await observeOnce({ adapter, clock, due, deliver, batch, timeBudgetMs, countBudget, cursor });
  const failure = events.find((event) => event.type === 'deliveryFailed');
  if (failure) throw failure.error;
  const report = reportOf(events, { paused: runs.paused(), elapsedMs: clock.monoMs() - startedMonoMs });
  record(request, events, report);
  return report;
}

function reportOf(events: readonly LaneEvent[], rest: Pick<PassReport, 'paused' | 'elapsedMs'>): PassReport {
  const outcomes: Record<string, number> = {};
  let lookedAt = 0;
  for (const event of events) {
    if (event.type !== 'batch') continue;
    countOutcomes(outcomes, event);
    lookedAt += event.observed.length;
  }
  const ended = events.find((event) => event.type === 'passEnded');
  const unavailable = events.find((event) => event.type === 'contextUnavailable');
  return {
    lookedAt,
    complete: ended !== undefined && ended.cursor === null,
    outcomes,
    reads: ended?.reads ?? 0,
    unavailable: unavailable?.reason ?? null,
    ...rest,
  };
}

/** Adds what a batch has seen to `outcomes`. */
export function countOutcomes(
  outcomes: Record<string, number>,
  { observed }: Extract<LaneEvent, { readonly type: 'batch' }>,
): void {
  for (const { sample } of observed) {
    const name = sample.result === 'unknown' ? `unknown:${sample.reason}` : sample.result;
    outcomes[name] = (outcomes[name] ?? 0) + 1;
  }
}

/** The cursor moves only with a pass that came to its end; a batch that is looked at twice changes nothing. */
function record({ runs, store, clock }: PassRequest, events: readonly LaneEvent[], report: PassReport): void {
  const ended = events.find((event) => event.type === 'passEnded');
  const { reads, lookedAt, paused: deferred, outcomes, elapsedMs } = report;
  runs.flush(() => {
    if (ended) store.meta.set(cursorRow, ended.cursor ?? '');
    const elapsedUs = Math.round(elapsedMs * 1_000);
    store.passes.add({ wallMs: clock.now().wallMs, elapsedUs, reads, lookedAt, deferred, outcomes });
  });
}
