/** The part of a metrics report that the tables of observing hold by themselves. */
import type { Store } from '../../persistence/store.ts';
import type { MetricsReport, Series } from '../metrics/report.ts';

/** Passes that are looked at; the table keeps no more. */
const newestPasses = 10_000;

export function availableMetrics({ passes, coverageGaps }: Pick<Store, 'passes' | 'coverageGaps'>): MetricsReport {
  const looked = passes.newest(newestPasses);
  const durations = looked.map(({ elapsedUs }) => elapsedUs / 1_000).sort((one, other) => one - other);
  const unknowns = new Map<string, number>();
  for (const { outcomes } of looked) {
    for (const [outcome, count] of Object.entries(outcomes)) {
      const [kind, reason = ''] = outcome.split(':', 2);
      if (kind === 'unknown') unknowns.set(reason, (unknowns.get(reason) ?? 0) + count);
    }
  }
  const counted = [...unknowns].map(
    ([reason, value]): Series => ({
      name: 'unknowns',
      unit: 'count',
      description: 'looks that could not tell',
      labels: { reason },
      measured: { kind: 'counter', value },
    }),
  );
  return {
    window: { fromMs: looked.at(-1)?.wallMs ?? 0, untilMs: looked[0]?.wallMs ?? 0 },
    series: [
      {
        name: 'pass_duration',
        unit: 'milliseconds',
        description: 'one look at every observed process that is due',
        labels: {},
        measured: {
          kind: 'distribution',
          count: durations.length,
          p50: rank(durations, 0.5),
          p95: rank(durations, 0.95),
          max: durations.at(-1) ?? null,
        },
      },
      ...(counted.length > 0 || looked.length === 0 ? counted : [noUnknowns]),
      {
        name: 'coverage_gaps',
        unit: 'count',
        description: 'windows of which nothing is known',
        labels: {},
        measured: { kind: 'gauge', value: coverageGaps.count().open },
      },
    ],
  };
}

/** That every look could tell is a measurement as well. */
const noUnknowns: Series = {
  name: 'unknowns',
  unit: 'count',
  description: 'looks that could not tell',
  labels: {},
  measured: { kind: 'counter', value: 0 },
};

/** Nearest rank of sorted values. */
const rank = (sorted: readonly number[], share: number): number | null =>
  sorted[Math.ceil(share * sorted.length) - 1] ?? null;
