/**
 * The figures that a gate compares with (METR-02). Those that depend on the host are measured there before any canary; the
 * others have a bound from the beginning, which a person may set otherwise.
 */
import type { Unit } from '../metrics/report.ts';

interface Measuring {
  /** Name of the series (actors/metrics/report.ts). */
  readonly series: string;
  readonly statistic: 'p95' | 'sum';
  /** Fewer say too little, for setting a budget and for keeping one. */
  readonly samples: number;
  /** The series whose values are the samples, where that is another one. */
  readonly sampledBy?: string;
}

export interface BudgetDefinition {
  readonly name: string;
  readonly unit: Unit;
  readonly description: string;
  /** In force until somebody sets another. */
  readonly initial?: number;
  /** From what a measurement sets it; there is no canary before. */
  readonly measuring?: Measuring;
}

export const budgetDefinitions = [
  {
    name: 'pass_duration_p95',
    unit: 'milliseconds',
    description: 'one look at every observed process that is due',
    measuring: { series: 'pass_duration', statistic: 'p95', samples: 100 },
  },
  {
    name: 'commit_latency_p95',
    unit: 'milliseconds',
    description: 'from a decision to its commit',
    measuring: { series: 'commit_latency', statistic: 'p95', samples: 100 },
  },
  {
    name: 'recovery_time_p95',
    unit: 'milliseconds',
    description: 'from the start of a daemon until it knows what became of everything',
    measuring: { series: 'recovery_time', statistic: 'p95', samples: 3 },
  },
  {
    name: 'unknowns',
    unit: 'count',
    description: 'looks that could not tell, in the window of the metrics',
    measuring: { series: 'unknowns', statistic: 'sum', samples: 100, sampledBy: 'pass_duration' },
  },
  {
    name: 'oldest_unapplied_event_age',
    unit: 'seconds',
    description: 'how long what was noted may wait to be taken in',
    initial: 300,
  },
  { name: 'open_coverage_gaps', unit: 'count', description: 'windows of which nothing is known', initial: 0 },
  {
    name: 'unsafe_predictions',
    unit: 'count',
    description: 'predictions that would have cleaned up what was in use',
    initial: 0,
  },
  { name: 'compared_outcomes', unit: 'count', description: 'outcomes compared, at least', initial: 20 },
  {
    name: 'undecided_unsafe',
    unit: 'count',
    description: 'disagreements nobody has decided, in which acting on our side may have done harm',
    initial: 0,
  },
  { name: 'undecided_other', unit: 'count', description: 'other disagreements nobody has decided', initial: 5 },
] as const satisfies readonly BudgetDefinition[];

export type BudgetName = (typeof budgetDefinitions)[number]['name'];
export const budgetNames = budgetDefinitions.map(({ name }) => name) as [BudgetName, ...BudgetName[]];

export const definitionOf = (name: BudgetName): BudgetDefinition =>
  budgetDefinitions.find((one) => one.name === name) as BudgetDefinition;
