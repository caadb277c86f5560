/** From instants to places between 0 and 1, and the instants at which the axis is labelled. */

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

const steps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 3, 6, 12].map((hours) => hours * 3_600_000),
  ...[1, 2, 7, 14, 28].map((days) => days * 86_400_000),
];

/** Never empty: what began just now has some room as well. */
export function spanOf(
  bars: readonly { readonly fromMs: number; readonly toMs: number | null }[],
  nowMs: number,
): Span {
  const fromMs = Math.min(nowMs, ...bars.map((bar) => bar.fromMs));
  const toMs = Math.max(...bars.map((bar) => bar.toMs ?? nowMs), fromMs + 1_000);
  return { fromMs, toMs };
}

/** ms that these took together; null where one ended before it began: then the clock was set back, and nobody knows. */
export function lastedMs(
  bars: readonly { readonly fromMs: number; readonly toMs: number | null }[],
  nowMs: number,
): number | null {
  const each = bars.map(({ fromMs, toMs }) => (toMs ?? nowMs) - fromMs);
  return each.some((ms) => ms < 0) ? null : each.reduce((sum, ms) => sum + ms, 0);
}

export function placeIn({ fromMs, toMs }: Span, atMs: number): number {
  return Math.min(1, Math.max(0, (atMs - fromMs) / (toMs - fromMs)));
}

export function ticksOf({ fromMs, toMs }: Span, most: number): readonly number[] {
  const step = steps.find((one) => (toMs - fromMs) / one <= most) ?? steps.at(-1)!;
  const ticks: number[] = [];
  for (let at = Math.ceil(fromMs / step) * step; at <= toMs; at += step) ticks.push(at);
  return ticks;
}
