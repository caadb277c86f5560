/** What a card draws: series of one name together, labels that say the same of several added up. */
import type { Distribution, MetricsAnswer, PastSeries } from '../../server/contract.ts';
import { observed } from './observed.ts';

/** Of values over time: a step each, null where nothing was measured. */
export interface Line {
  /** `open`; empty where there is one line only. */
  readonly label: string;
  readonly steps: readonly (number | null)[];
}

/** From `fromMs` on, a step of `stepMs` after the other. */
export interface Axis {
  readonly fromMs: number;
  readonly stepMs: number;
}

export type Drawn = Axis &
  (
    | { readonly kind: 'band'; readonly steps: readonly (Distribution | null)[] }
    /** `seen`: only its present is kept, and the steps are what this page has seen. */
    | { readonly kind: 'bars' | 'steps' | 'seen'; readonly lines: readonly Line[] }
  );

export interface Card {
  readonly name: string;
  readonly first: PastSeries;
  /** One for each set of labels. */
  readonly series: readonly PastSeries[];
  readonly drawn: Drawn;
  readonly isMeasured: boolean;
}

/** In the order of the report. */
export function cardsOf(answer: MetricsAnswer): readonly Card[] {
  return [...Map.groupBy(answer.series, ({ name }) => name)].map(([name, series]) => {
    const first = series[0] as PastSeries;
    return { name, first, series, drawn: drawnOf(answer, series), isMeasured: series.some(isMeasured) };
  });
}

export const isMeasured = ({ measured }: PastSeries): boolean =>
  measured.kind === 'distribution' ? measured.count > 0 : measured.value !== null;

function drawnOf(answer: MetricsAnswer, series: readonly PastSeries[]): Drawn {
  const { past, measured, name } = series[0] as PastSeries;
  if (past === null) {
    const { steps, ...axis } = observed(name, answer);
    return { ...axis, kind: 'seen', lines: [{ label: '', steps }] };
  }
  const axis: Axis = { fromMs: answer.window.fromMs, stepMs: answer.stepMs };
  if (past.kind === 'distributions') return { ...axis, kind: 'band', steps: past.steps };
  const byState = Map.groupBy(series, ({ labels }) => labels.state ?? '');
  const lines = [...byState].map(([label, own]) => ({ label, steps: sumsOf(own) }));
  return { ...axis, kind: measured.kind === 'counter' ? 'bars' : 'steps', lines };
}

function sumsOf(series: readonly PastSeries[]): readonly (number | null)[] {
  const values = series.flatMap(({ past }) => (past?.kind === 'values' ? [past.steps] : []));
  return (values[0] ?? []).map((_, step) => {
    const known = values.flatMap((steps) => steps[step] ?? []);
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
  });
}

/** Neighbouring steps in which something was measured. */
export interface Stretch<T> {
  readonly from: number;
  readonly values: readonly T[];
}

export function stretchesOf<T>(steps: readonly (T | null)[]): readonly Stretch<T>[] {
  const stretches: { from: number; values: T[] }[] = [];
  for (const [step, value] of steps.entries()) {
    const open = stretches.at(-1);
    if (value === null) continue;
    if (open !== undefined && open.from + open.values.length === step) open.values.push(value);
    else stretches.push({ from: step, values: [value] });
  }
  return stretches;
}
