/** The body of `custody metrics`: every series there is, also where nothing was measured (METR-01). */
import { minuteMs, minuteOf } from '../../persistence/commitMeter.ts';
import { merged, type RecordedMinute } from '../../persistence/tables/commitMinutes.ts';
import type { GapCount } from '../../persistence/tables/coverageGaps.ts';
import { catalogue, type SeriesName } from './catalogue.ts';
import { wasPredicted } from './contradictions.ts';
import { distributionOf, latencyOf } from './distribution.ts';
import type { Distribution, MetricsReport, Series, Value } from './report.ts';
import { type StandingParts, standingOf } from './standing.ts';

/** Wall-clock milliseconds. */
export interface Window {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What was measured in a window of time. */
export interface Measured {
  readonly passDuration: Distribution;
  readonly passReads: Distribution;
  readonly commits: RecordedMinute;
  readonly commitLatency: Distribution;
  readonly recoveryTime: Distribution;
}

export interface Counted extends Measured {
  /** By reason. */
  readonly unknowns: ReadonlyMap<string, number>;
  readonly unsafePredictions: number;
}

/** Commits are on record by the minute, so that every window begins with one. */
export const windowFrom = (sinceMs: number, untilMs: number): Window => ({
  fromMs: minuteOf(sinceMs) * minuteMs,
  untilMs,
});

export function measuredIn({ store }: Pick<StandingParts, 'store'>, { fromMs, untilMs }: Window): Measured {
  const passes = store.passes.costs(fromMs, untilMs);
  const commits = merged(store.commitMinutes.between(minuteOf(fromMs), minuteOf(untilMs)));
  const recoveries = store.recoveries.between(fromMs, untilMs);
  return {
    passDuration: distributionOf(passes.map(({ elapsedUs }) => elapsedUs / 1_000)),
    passReads: distributionOf(passes.map(({ reads }) => reads)),
    commits,
    commitLatency: latencyOf(commits),
    recoveryTime: distributionOf(recoveries.map(({ elapsedUs }) => elapsedUs / 1_000)),
  };
}

export function metricsReport(parts: StandingParts, window: Window): MetricsReport {
  const { passes, contradictions } = parts.store;
  const { fromMs, untilMs } = window;
  return reportOf(parts, window, {
    ...measuredIn(parts, window),
    unknowns: passes.unknowns(fromMs, untilMs),
    unsafePredictions: contradictions.count(fromMs, untilMs),
  });
}

/** With how things stand now. */
export function reportOf(parts: StandingParts, window: Window, measured: Counted): MetricsReport {
  const standing = standingOf(parts);
  const { unsafePredictions: unsafe } = measured;
  return {
    window,
    series: [
      one('pass_duration', measured.passDuration),
      one('pass_reads', measured.passReads),
      one('commit_latency', measured.commitLatency),
      one('commit_busy_ratio', gauge(busyRatioOf(measured.commits))),
      one('oldest_unapplied_event_age', gauge(standing.oldestUnappliedAge)),
      ...unknownsOf(measured),
      ...gapsOf(standing.gaps),
      one('predictions_would_be_unsafe', counter(unsafe > 0 || wasPredicted(parts.store) ? unsafe : null)),
      one('recovery_time', measured.recoveryTime),
      one('journal_rows', gauge(standing.journalRows)),
      one('journal_bytes', gauge(standing.journalBytes)),
      one('journal_growth', counter(growthOf(measured.commits))),
      one('database_bytes', gauge(standing.databaseBytes)),
      one('spool_bytes', gauge(standing.spoolBytes)),
    ],
  };
}

/** Null where nobody has tried to write. */
export const busyRatioOf = ({ attempts, busy }: RecordedMinute): number | null =>
  attempts === 0 ? null : busy / attempts;

export const growthOf = ({ attempts, journaled }: RecordedMinute): number | null =>
  attempts === 0 && journaled === 0 ? null : journaled;

function unknownsOf({ unknowns, passDuration }: Counted): readonly Series[] {
  if (unknowns.size === 0) return [one('unknowns', counter(passDuration.count === 0 ? null : 0))];
  return [...unknowns].map(([reason, count]) => one('unknowns', counter(count), { reason }));
}

export const gapsOf = (gaps: readonly GapCount[]): readonly Series[] =>
  gaps.length === 0
    ? [one('coverage_gaps', gauge(0))]
    : gaps.map(({ producer, state, count }) => one('coverage_gaps', gauge(count), { producer, state }));

const one = (name: SeriesName, measured: Series['measured'], labels: Series['labels'] = {}): Series => ({
  name,
  ...catalogue[name],
  labels,
  measured,
});

const gauge = (value: number | null): Value => ({ kind: 'gauge', value });
const counter = (value: number | null): Value => ({ kind: 'counter', value });
