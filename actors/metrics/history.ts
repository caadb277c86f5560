/**
 * The report of a window with what it is made of, step by step. Of a day there may be 100 000 passes, so it is read in pages
 * and everybody else has a turn in between; the figures of the whole window are those of `metricsReport`.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Moment } from '../../persistence/clock.ts';
import { minuteOf } from '../../persistence/commitMeter.ts';
import type { Store } from '../../persistence/store.ts';
import { merged } from '../../persistence/tables/commitMinutes.ts';
import type { GapChange, GapCount, GapSteps } from '../../persistence/tables/coverageGaps.ts';
import type { PassCursor } from '../../persistence/tables/passes.ts';
import type { SeriesName } from './catalogue.ts';
import { distributionOf, latencyOf } from './distribution.ts';
import type { Distribution, MetricsHistory, Past, PastSeries, Series } from './report.ts';
import { busyRatioOf, type Counted, gapsOf, growthOf, reportOf, type Window } from './series.ts';
import type { StandingParts } from './standing.ts';

const gapSeries = 'coverage_gaps' satisfies SeriesName;

export interface HistoryRequest {
  readonly window: Window;
  /** Whole minutes. */
  readonly stepMs: number;
  /** Ends the reading, which rejects with its reason. */
  readonly signal: AbortSignal;
}

/** What was measured in one step, and the values that it is made of: milliseconds and reads. */
interface Step extends Counted {
  readonly untilMs: number;
  readonly durations: readonly number[];
  readonly reads: readonly number[];
  readonly recoveries: readonly number[];
}

export async function metricsHistory(
  parts: StandingParts,
  { window, stepMs, signal }: HistoryRequest,
): Promise<MetricsHistory> {
  const steps: Step[] = [];
  for (let fromMs = window.fromMs; fromMs <= window.untilMs; fromMs += stepMs) {
    const untilMs = Math.min(fromMs + stepMs - 1, window.untilMs);
    steps.push(await stepOf(parts.store, { fromMs, untilMs }, signal));
  }
  const together = await togetherOf(steps);
  signal.throwIfAborted();
  const { series } = reportOf(parts, window, together);
  const gaps = gapsPast(parts.store, { fromMs: window.fromMs, stepMs, count: steps.length });
  const predictedMs = firstPredictionMs(parts.store);
  const past = series.map((one) => ({ ...one, past: pastOf(one, steps, predictedMs) }));
  const at = past.findIndex(({ name }) => name === gapSeries);
  const others = past.filter(({ name }) => name !== gapSeries);
  return { window, stepMs, series: gaps.length === 0 ? past : others.toSpliced(at, 0, ...gaps) };
}

async function stepOf(store: Store, { fromMs, untilMs }: Window, signal: AbortSignal): Promise<Step> {
  const durations: number[] = [];
  const reads: number[] = [];
  const unknowns = new Map<string, number>();
  let after: PassCursor | undefined;
  do {
    await nextTurn();
    signal.throwIfAborted();
    const page = store.passes.page(fromMs, untilMs, after);
    for (const pass of page.passes) {
      durations.push(pass.elapsedUs / 1_000);
      reads.push(pass.reads);
      addTo(unknowns, Object.entries(pass.unknowns));
    }
    after = page.next;
  } while (after !== undefined);
  const commits = merged(store.commitMinutes.between(minuteOf(fromMs), minuteOf(untilMs)));
  const recoveries = store.recoveries.between(fromMs, untilMs).map(({ elapsedUs }) => elapsedUs / 1_000);
  const unsafePredictions = store.contradictions.count(fromMs, untilMs);
  return {
    ...{ untilMs, durations, reads, recoveries, unknowns, commits, unsafePredictions },
    passDuration: distributionOf(durations),
    passReads: distributionOf(reads),
    commitLatency: latencyOf(commits),
    recoveryTime: distributionOf(recoveries),
  };
}

/** To put a hundred thousand values in order takes some ten milliseconds, so that everybody has a turn before each. */
async function togetherOf(steps: readonly Step[]): Promise<Counted> {
  const commits = merged(steps.map((step) => step.commits));
  const unknowns = new Map<string, number>();
  for (const step of steps) addTo(unknowns, step.unknowns);
  await nextTurn();
  const passDuration = distributionOf(steps.flatMap(({ durations }) => durations));
  await nextTurn();
  const passReads = distributionOf(steps.flatMap(({ reads }) => reads));
  await nextTurn();
  return {
    ...{ passDuration, passReads, commits },
    commitLatency: latencyOf(commits),
    recoveryTime: distributionOf(steps.flatMap(({ recoveries }) => recoveries)),
    unknowns: new Map([...unknowns].sort(([one], [other]) => (one < other ? -1 : 1))),
    unsafePredictions: steps.reduce((sum, step) => sum + step.unsafePredictions, 0),
  };
}

function addTo(sums: Map<string, number>, counts: Iterable<readonly [string, number]>): void {
  for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count);
}

function pastOf({ name, labels }: Series, steps: readonly Step[], predictedMs: number): Past | null {
  const distributions = (of: (step: Step) => Distribution): Past => ({
    kind: 'distributions',
    steps: steps.map(of).map((distribution) => (distribution.count === 0 ? null : distribution)),
  });
  const values = (of: (step: Step) => number | null): Past => ({ kind: 'values', steps: steps.map(of) });
  const unknownsIn = ({ passDuration, unknowns }: Step): number | null =>
    passDuration.count === 0 ? null : (unknowns.get(labels.reason ?? '') ?? 0);
  const unsafeIn = ({ unsafePredictions: unsafe, untilMs }: Step): number | null =>
    unsafe > 0 || untilMs >= predictedMs ? unsafe : null;
  const byName: Readonly<Record<string, () => Past>> = {
    pass_duration: () => distributions(({ passDuration }) => passDuration),
    pass_reads: () => distributions(({ passReads }) => passReads),
    commit_latency: () => distributions(({ commitLatency }) => commitLatency),
    recovery_time: () => distributions(({ recoveryTime }) => recoveryTime),
    commit_busy_ratio: () => values(({ commits }) => busyRatioOf(commits)),
    journal_growth: () => values(({ commits }) => growthOf(commits)),
    unknowns: () => values(unknownsIn),
    predictions_would_be_unsafe: () => values(unsafeIn),
    // Without any gap on record there was none at any time.
    [gapSeries]: () => values(() => 0),
  };
  return byName[name]?.() ?? null;
}

/** Of those that the journal still has; before it nothing can have been unsafe. */
function firstPredictionMs({ journal }: Store): number {
  const [first] = journal.page({ type: 'prediction.recorded', limit: 1 });
  return first?.intact ? (first.envelope as { readonly at: Moment }).at.wallMs : Number.POSITIVE_INFINITY;
}

/** How many stood open and closed at the end of each step, by producer: also none, where there were some before. */
function gapsPast(store: Store, steps: GapSteps): readonly PastSeries[] {
  const byProducer = new Map<string, GapChange[]>();
  for (const change of store.coverageGaps.changes(steps))
    byProducer.set(change.producer, [...(byProducer.get(change.producer) ?? []), change]);
  return [...byProducer].flatMap(([producer, changes]) => {
    const state = (name: GapCount['state'], of: (change: GapChange) => number): PastSeries => {
      const upTo = (last: number) => changes.reduce((sum, one) => sum + (one.step <= last ? of(one) : 0), 0);
      const past: Past = { kind: 'values', steps: Array.from({ length: steps.count }, (_, step) => upTo(step)) };
      const [series] = gapsOf([{ producer, state: name, count: upTo(steps.count - 1) }]);
      return { ...(series as Series), past };
    };
    return [state('closed', ({ closed }) => closed), state('open', ({ recorded, closed }) => recorded - closed)];
  });
}
