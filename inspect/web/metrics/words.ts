/** A picture in a sentence or two, for who cannot see it. */
import type { Distribution, Unit } from '../../server/contract.ts';
import { measure } from '../text/measure.ts';
import { dateTime } from '../text/quantity.ts';
import type { Card, Line } from './lines.ts';

const kinds = {
  band: 'line of p50 with a band up to p95',
  bars: 'bars',
  steps: 'step line',
  seen: 'step line of what this page has seen',
} as const;

export function pictureInWords(title: string, { drawn, first: { unit } }: Card): string {
  const { kind, fromMs, stepMs } = drawn;
  const about = `${title}, ${kinds[kind]}, from ${dateTime(fromMs)} in steps of ${stepInWords(stepMs)}.`;
  const said =
    drawn.kind === 'band'
      ? [distributionsInWords(drawn.steps, unit)]
      : drawn.lines.map((line) => lineInWords(line, unit));
  return [about, ...said].join(' ');
}

function distributionsInWords(steps: readonly (Distribution | null)[], unit: Unit): string {
  const measured = steps.filter((step) => step !== null);
  return [
    stepsInWords(measured.length, steps.length),
    rangeInWords(
      'p50',
      measured.map(({ p50 }) => p50 ?? 0),
      unit,
    ),
    rangeInWords(
      'p95',
      measured.map(({ p95 }) => p95 ?? 0),
      unit,
    ),
  ].join(' ');
}

function lineInWords({ label, steps }: Line, unit: Unit): string {
  const measured = steps.filter((step) => step !== null);
  return [stepsInWords(measured.length, steps.length), rangeInWords(label, measured, unit)].join(' ');
}

const stepsInWords = (measured: number, all: number): string => `Measured in ${measured} of ${all} steps.`;

function stepInWords(ms: number): string {
  if (ms < 60_000) return counted(ms / 1_000, 'second');
  return ms < 3_600_000 ? counted(ms / 60_000, 'minute') : counted(ms / 3_600_000, 'hour');
}

const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`;

function rangeInWords(label: string, values: readonly number[], unit: Unit): string {
  if (values.length === 0) return '';
  const [least, most] = [Math.min(...values), Math.max(...values)].map((value) => measure(value, unit));
  const range = least === most ? `always ${least}` : `${least} to ${most}`;
  return `${label === '' ? 'Value' : label}: ${range}.`;
}
