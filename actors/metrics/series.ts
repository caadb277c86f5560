/** The body of `custody metrics`: every series there is, also where nothing was measured (METR-01). */
import { minuteMs, minuteOf } from '../../persistence/commitMeter.ts';
import { merged, type RecordedMinute } from '../../persistence/tables/commitMinutes.ts';
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

export interface Measured {
  readonly passDuration: Distribution;
  readonly passReads: Distribution;
  readonly commits: RecordedMinute;
  readonly commitLatency: Distribution;
  readonly recoveryTime: Distribution;
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
  const { store } = parts;
  const measured = measuredIn(parts, window);
  const standing = standingOf(parts);
  const { attempts, busy, journaled } = measured.commits;
  const unsafe = store.contradictions.count(window.fromMs, window.untilMs);
  return {
    window,
    series: [
      one('pass_duration', measured.passDuration),
      one('pass_reads', measured.passReads),
      one('commit_latency', measured.commitLatency),
      one('commit_busy_ratio', gauge(attempts === 0 ? null : busy / attempts)),
      one('oldest_unapplied_event_age', gauge(standing.oldestUnappliedAge)),
      ...unknownsIn(parts, window, measured.passDuration.count),
      ...gapsOf(standing),
      one('predictions_would_be_unsafe', counter(unsafe > 0 || wasPredicted(store) ? unsafe : null)),
      one('recovery_time', measured.recoveryTime),
      one('journal_rows', gauge(standing.journalRows)),
      one('journal_bytes', gauge(standing.journalBytes)),
      one('journal_growth', counter(attempts === 0 && journaled === 0 ? null : journaled)),
      one('database_bytes', gauge(standing.databaseBytes)),
      one('spool_bytes', gauge(standing.spoolBytes)),
    ],
  };
}

function unknownsIn({ store }: StandingParts, { fromMs, untilMs }: Window, passes: number): readonly Series[] {
  const byReason = [...store.passes.unknowns(fromMs, untilMs)];
  if (byReason.length > 0) return byReason.map(([reason, count]) => one('unknowns', counter(count), { reason }));
  return [one('unknowns', counter(passes === 0 ? null : 0))];
}

const gapsOf = ({ gaps }: ReturnType<typeof standingOf>): readonly Series[] =>
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
