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
