/** Figures of a series as people read them: with their unit, and as short as an axis has room for. */
import type { Unit } from '../../server/contract.ts';
import { amount, duration, size } from './quantity.ts';

/** `0.34 ms`, `12.4 ms`, `3.2 s`, `1.5 KiB`, `0.25 %`, `1,204`. */
export function measure(value: number, unit: Unit): string {
  if (unit === 'milliseconds') return milliseconds(value);
  if (unit === 'seconds') return value === 0 ? '0 s' : milliseconds(value * 1_000);
  if (unit === 'bytes') return size(value);
  if (unit === 'ratio') return `${figure(value * 100)} %`;
  return amount(value);
}

const milliseconds = (ms: number): string => (ms < 1_000 ? `${figure(ms)} ms` : duration(ms));

/** Three digits, where there are as many. */
const figure = (value: number): string => {
  if (Number.isInteger(value)) return String(value);
  return value < 1 ? value.toPrecision(2) : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
};

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** At most eight characters. */
export function axisMeasure(value: number, unit: Unit): string {
  if (value === 0) return '0';
  if (unit === 'milliseconds') return shortDuration(value);
  if (unit === 'seconds') return shortDuration(value * 1_000);
  if (unit === 'bytes') return size(value).replace('.0 ', ' ');
  if (unit === 'ratio') return `${trimmed(value * 100)} %`;
  return compact.format(value);
}

const trimmed = (value: number): string => String(Number(value.toPrecision(3)));

function shortDuration(ms: number): string {
  if (ms < 1_000) return `${trimmed(ms)} ms`;
  if (ms < 60_000) return `${trimmed(ms / 1_000)} s`;
  if (ms < 3_600_000) return `${trimmed(ms / 60_000)} min`;
  if (ms < 86_400_000) return `${trimmed(ms / 3_600_000)} h`;
  return `${trimmed(ms / 86_400_000)} d`;
}

export const unitWords: Readonly<Record<Unit, string>> = {
  milliseconds: 'milliseconds',
  seconds: 'seconds',
  bytes: 'bytes',
  rows: 'rows',
  reads: 'reads',
  count: 'count',
  ratio: 'percent',
};
