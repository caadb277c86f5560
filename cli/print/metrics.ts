/** What was measured, for people: one line a series. */
import type { MetricsReport, Series, Unit } from '../../actors/metrics/report.ts';
import { line } from './escape.ts';
import { size, unitBehind } from './quantity.ts';
import type { Style } from './style.ts';
import { table } from './table.ts';
import { spaced } from './words.ts';

export function metricsLines({ window, series }: MetricsReport, style: Style): string[] {
  const [from, until] = [window.fromMs, window.untilMs].map((ms) => new Date(ms).toISOString());
  return [
    line`from ${from} to ${until}; what has no window is as it is now`,
    ...table({
      heading: ['series', 'value', 'p50', 'p95', 'max', 'count'],
      rows: series.map((one) => [nameOf(one), ...valuesOf(one)]),
      empty: 'no series',
      style,
    }).map((row) => row.trimEnd()),
  ];
}

function nameOf({ name, labels }: Series): string {
  const said = Object.values(labels);
  return said.length === 0 ? spaced(name) : `${spaced(name)}: ${said.map(spaced).join(', ')}`;
}

function valuesOf({ measured, unit }: Series): readonly (string | number)[] {
  if (measured.kind !== 'distribution') return [quantity(measured.value, unit), '', '', '', ''];
  const { count, p50, p95, max } = measured;
  return ['', quantity(p50, unit), quantity(p95, unit), quantity(max, unit), count];
}

/** `not measured` and 0 are two things. */
function quantity(value: number | null, unit: Unit): string {
  if (value === null) return '-';
  if (unit === 'bytes') return size(value);
  if (unit === 'ratio') return `${(value * 100).toFixed(value > 0 && value < 0.01 ? 3 : 1)} %`;
  const rounded = Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 1);
  return `${rounded}${unitBehind(unit)}`;
}
