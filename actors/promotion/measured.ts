/** What a metrics report says of a series as a whole: where there are several of a name, the worst of them. */
import type { Distribution, MetricsReport, Series, Unit, Value } from '../metrics/report.ts';

export interface Measured {
  readonly value: number;
  /** How many values it was taken from; 1 for a gauge or a counter. */
  readonly samples: number;
}

/** Undefined where nothing was measured, or in a unit that does not go over into the asked one. */
export function measured(
  report: MetricsReport,
  name: string,
  { statistic, unit }: { readonly statistic: 'p95' | 'sum' | 'largest'; readonly unit: Unit },
): Measured | undefined {
  const found = report.series.filter((series) => series.name === name);
  const values = found.map((series) => figureIn(series, statistic, unit));
  // One of them that was not measured, or not in this unit, may be the worst.
  if (values.length === 0 || values.some((value) => value === undefined)) return undefined;
  const known = values as number[];
  const samples = found.reduce((sum, { measured: one }) => sum + (one.kind === 'distribution' ? one.count : 1), 0);
  const value = statistic === 'sum' ? known.reduce((sum, one) => sum + one, 0) : Math.max(...known);
  return { value, samples };
}

/** How many values a series was taken from; 0 where there is none. */
export const samplesOf = (report: MetricsReport, name: string): number =>
  report.series
    .filter((series) => series.name === name)
    .reduce(
      (sum, { measured: one }) => sum + (one.kind === 'distribution' ? one.count : one.value === null ? 0 : 1),
      0,
    );

function figureIn(series: Series, statistic: 'p95' | 'sum' | 'largest', unit: Unit): number | undefined {
  const factor = factorOf(series.unit, unit);
  const figure = figureOf(series.measured, statistic);
  return factor === undefined || figure === null ? undefined : figure * factor;
}

const figureOf = (one: Distribution | Value, statistic: 'p95' | 'sum' | 'largest'): number | null => {
  if (one.kind === 'distribution') return statistic === 'p95' ? one.p95 : null;
  return statistic === 'p95' ? null : one.value;
};

function factorOf(from: Unit, to: Unit): number | undefined {
  if (from === to) return 1;
  if (from === 'seconds' && to === 'milliseconds') return 1_000;
  return from === 'milliseconds' && to === 'seconds' ? 0.001 : undefined;
}
