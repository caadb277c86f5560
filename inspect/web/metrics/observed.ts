/** What this page has seen of figures of which the store keeps only the present; gone when the page is loaded anew. */
import type { MetricsAnswer } from '../../server/contract.ts';

interface Sighting {
  readonly atMs: number;
  readonly values: ReadonlyMap<string, number | null>;
}

const stepMs = 10_000;
/** Ten minutes are shown. */
const steps = 60;
/** Who looked away for longer does not know what was in between. */
const longestPauseMs = 90_000;

let sightings: readonly Sighting[] = [];

/** The same answer counts once. */
export function see({ window: { untilMs }, series }: MetricsAnswer): void {
  if (sightings.some(({ atMs }) => atMs === untilMs)) return;
  const values = series.flatMap(({ name, past, measured }) =>
    past === null && measured.kind !== 'distribution' ? [[name, measured.value] as const] : [],
  );
  const before = sightings.filter(({ atMs }) => atMs > untilMs - steps * stepMs - longestPauseMs && atMs < untilMs);
  sightings = [...before, { atMs: untilMs, values: new Map(values) }];
}

export interface Observed {
  readonly fromMs: number;
  readonly stepMs: number;
  /** Null where nobody looked. */
  readonly steps: readonly (number | null)[];
}

/** What was seen counts until it was seen anew. */
export function observed(name: string, { window: { untilMs } }: MetricsAnswer): Observed {
  const fromMs = (Math.floor(untilMs / stepMs) - steps + 1) * stepMs;
  const seen = new Array<number | null>(steps).fill(null);
  const stepOf = (atMs: number): number => Math.floor((atMs - fromMs) / stepMs);
  for (const [index, { atMs, values }] of sightings.entries()) {
    const nextMs = sightings[index + 1]?.atMs ?? atMs;
    const last = nextMs - atMs > longestPauseMs ? atMs : nextMs;
    for (let step = Math.max(0, stepOf(atMs)); step <= stepOf(last) && step < steps; step += 1)
      seen[step] = values.get(name) ?? null;
  }
  return { fromMs, stepMs, steps: seen };
}
