/** What measurements say of a window of time: the body of `custody metrics --json` (METR-01). */

export type Unit = 'milliseconds' | 'seconds' | 'bytes' | 'rows' | 'reads' | 'count' | 'ratio';

/** Of many values: nearest-rank percentiles over everything that was measured in the window. Null where nothing was. */
export interface Distribution {
  readonly kind: 'distribution';
  readonly count: number;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly max: number | null;
}

/** How it stands now (`gauge`), or how much came in the window (`counter`). Null where that cannot be told. */
export interface Value {
  readonly kind: 'gauge' | 'counter';
  readonly value: number | null;
}

export interface Series {
  /** `noun_noun`, without the unit: `pass_duration`. */
  readonly name: string;
  readonly unit: Unit;
  readonly description: string;
  /** One of a kind each, e.g. the reason of an unknown; no labels where there is one only. */
  readonly labels: Readonly<Record<string, string>>;
  readonly measured: Distribution | Value;
}

export interface MetricsReport {
  /** Wall-clock milliseconds, for display: what is counted is between the two. */
  readonly window: { readonly fromMs: number; readonly untilMs: number };
  readonly series: readonly Series[];
}

/** One figure for each step of a window, oldest first; null for a step in which nothing was measured. */
export type Past =
  | { readonly kind: 'distributions'; readonly steps: readonly (Distribution | null)[] }
  | { readonly kind: 'values'; readonly steps: readonly (number | null)[] };

export interface PastSeries extends Series {
  /** Null where the store keeps none: only how it stands now is known. */
  readonly past: Past | null;
}

/** The report of a window, and what stands in it of each of its steps. */
export interface MetricsHistory extends MetricsReport {
  /** Length of a step; the first begins with the window, and the last is not over yet. */
  readonly stepMs: number;
  readonly series: readonly PastSeries[];
}
