/** Sets budgets from what was measured on this host, all of them or none (METR-02). */
import type { MetricsReport } from '../metrics/report.ts';
import { type BudgetDefinition, type BudgetName, budgetDefinitions } from './budgetDefinitions.ts';
import { measured, samplesOf } from './measured.ts';

export interface NewBudget {
  readonly name: BudgetName;
  readonly value: number;
  readonly from: {
    readonly series: string;
    readonly value: number;
    readonly unit: string;
    readonly samples: number;
    readonly factor: number;
    readonly window: MetricsReport['window'];
  };
}

export interface MissingSamples {
  readonly name: BudgetName;
  readonly samples: number;
  readonly needed: number;
}

export type Budgeting =
  | { readonly budgets: readonly NewBudget[] }
  | { readonly missing: readonly [MissingSamples, ...MissingSamples[]] };

export function budgetsFrom(report: MetricsReport, factor: number): Budgeting {
  const budgets: NewBudget[] = [];
  const missing: MissingSamples[] = [];
  for (const { name, unit, measuring } of budgetDefinitions as readonly (BudgetDefinition & { name: BudgetName })[]) {
    if (measuring === undefined) continue;
    const { series, statistic, samples: needed, sampledBy = series } = measuring;
    const samples = samplesOf(report, sampledBy);
    const found = measured(report, series, { statistic, unit });
    if (found === undefined || samples < needed) {
      missing.push({ name, samples: found === undefined ? 0 : samples, needed });
      continue;
    }
    const value = Math.ceil(found.value * factor);
    budgets.push({ name, value, from: { series, value: found.value, unit, samples, factor, window: report.window } });
  }
  const [first, ...others] = missing;
  return first === undefined ? { budgets } : { missing: [first, ...others] };
}
