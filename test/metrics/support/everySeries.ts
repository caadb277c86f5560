/** What METR-01 asks for, by name and unit: written once more, because a series that is removed must not go unnoticed. */
import type { Series } from '../../../actors/metrics/report.ts';

const series: Readonly<Record<string, string>> = {
  pass_duration: 'milliseconds',
  pass_reads: 'reads',
  commit_latency: 'milliseconds',
  commit_busy_ratio: 'ratio',
  oldest_unapplied_event_age: 'seconds',
  unknowns: 'count',
  coverage_gaps: 'count',
  predictions_would_be_unsafe: 'count',
  recovery_time: 'milliseconds',
  journal_rows: 'rows',
  journal_bytes: 'bytes',
  journal_growth: 'rows',
  database_bytes: 'bytes',
  spool_bytes: 'bytes',
};

export const seriesNames = Object.keys(series);

/** Every one, as often as `shown` has it with labels, and at least once. */
export function everySeries(shown: readonly Series[]): string[][] {
  return Object.entries(series).flatMap(([name, unit]) => {
    const labelled = shown.filter((one) => one.name === name && Object.keys(one.labels).length > 0).length;
    return Array.from({ length: Math.max(1, labelled) }, () => [name, unit]);
  });
}
