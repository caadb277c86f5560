/** Where a figure lies on the axis of a picture, and the figures and instants that stand beside it. */
import type { Unit } from '../../server/contract.ts';
import { type Span, ticksOf } from '../timeline/scale.ts';

/** Halves of them have one digit more at most. */
const round = [1, 2, 3, 4, 5, 6, 8, 10];
/** Of what is counted in sixties. */
const sixties = [1, 2, 4, 6, 10, 20, 30, 60];
const timeBases = [86_400_000, 3_600_000, 60_000];

/** The end of an axis that begins with 0: round, and at least `most`; half of it is round as well. */
export function endOf(most: number, unit: Unit): number {
  if (unit === 'milliseconds') return endOfTime(most);
  if (unit === 'seconds') return most === 0 ? 1 : endOfTime(most * 1_000) / 1_000;
  if (unit === 'ratio') return most === 0 ? 0.01 : roundIn(most, 1);
  const base = unit === 'bytes' ? 1_024 ** Math.floor(Math.log2(Math.max(1, most)) / 10) : 1;
  if (base > 1) return roundIn(most, base);
  // Half of a row is none.
  const end = roundIn(Math.max(2, most), 1);
  return end + (end % 2);
}

function roundIn(most: number, base: number): number {
  const power = base * 10 ** Math.floor(Math.log10(most / base));
  return (round.find((one) => one * power >= most) ?? 10) * power;
}

function endOfTime(ms: number): number {
  if (ms === 0) return 1;
  const base = timeBases.find((one) => ms >= one);
  if (base === undefined) return roundIn(ms, 1);
  return base === timeBases[0] ? roundIn(ms, base) : (sixties.find((one) => one * base >= ms) ?? 60) * base;
}

/** Instants at which the time axis is labelled: where the clock of whoever looks is round. */
export function instantsOf(span: Span, most: number): readonly number[] {
  const aheadMs = -new Date(span.toMs).getTimezoneOffset() * 60_000;
  return ticksOf({ fromMs: span.fromMs + aheadMs, toMs: span.toMs + aheadMs }, most).map((at) => at - aheadMs);
}
