/** The figures that promotion compares with: measured on this host, or set by a person (METR-02). */
import { damagedRow } from '../../../persistence/errors.ts';
import type { Budget } from '../../../persistence/tables/budgets.ts';
import { type BudgetDefinition, budgetDefinitions } from '../../promotion/budgetDefinitions.ts';
import { budgetsFrom, type MissingSamples } from '../../promotion/budgeting.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { BudgetView } from '../api/promotionViews.ts';
import type { CallResults } from '../api/results.ts';
import type { Answer, DaemonContext } from '../context.ts';

type Shown = Answer<CallResults['promote.budgets']>;
type Context = Pick<DaemonContext, 'store' | 'clock' | 'metrics'>;

export const showBudgets = async ({ store }: Context): Promise<Shown> => ({
  data: { budgets: budgetViews(store.budgets.list()) },
});

/** All of them or none. Throws `samples_missing` (exit 13), which says how many are. */
export async function measureBudgets(context: Context, { factor }: ParsedArguments<'promote.measure'>): Promise<Shown> {
  const row = context.store.damagedMeasurement();
  if (row !== undefined) throw damagedRow(`row ${row.where} of ${row.table}`);
  const found = budgetsFrom(context.metrics(), factor);
  if ('missing' in found) throw samplesMissing(found.missing);
  put(
    context,
    found.budgets.map(({ name, value, from }) => ({ name, value, origin: 'measured', measured: from })),
  );
  return showBudgets(context);
}

export async function setBudgets(context: Context, { values }: ParsedArguments<'promote.setBudgets'>): Promise<Shown> {
  put(
    context,
    values.map(({ name, value }) => ({ name, value, origin: 'by_hand', measured: null })),
  );
  return showBudgets(context);
}

function put({ store, clock }: Context, budgets: readonly Omit<Budget, 'wallMs'>[]): void {
  const { wallMs } = clock.now();
  store.write(() => {
    for (const budget of budgets) store.budgets.put({ ...budget, wallMs });
  });
}

function samplesMissing(missing: readonly MissingSamples[]): OperatingError {
  const blockers = missing.map(({ name, samples, needed }) => ({
    code: name,
    detail: `${samples} of ${needed} values were measured; ${needed - samples} are missing`,
  }));
  return new OperatingError({
    code: 'samples_missing',
    message: `too little was measured on this host for ${missing.length} ${missing.length === 1 ? 'budget' : 'budgets'}`,
    exitCode: 13,
    next: [
      ...(missing.some(({ name }) => name === 'recovery_time_p95') ? ['custody daemon restart --keep-work'] : []),
      'let it watch a run for a while, then repeat the command',
      'custody promote budgets --set NAME=VALUE',
    ],
    details: { blockers },
  });
}

const budgetViews = (set: readonly Budget[]): readonly BudgetView[] =>
  budgetDefinitions.map(({ name, unit, description, ...definition }): BudgetView => {
    const budget = set.find((one) => one.name === name);
    const { initial } = definition as Partial<BudgetDefinition>;
    const fallback = { value: initial ?? null, origin: initial === undefined ? null : ('initial' as const) };
    const { value, origin } = budget ?? fallback;
    const { wallMs = null, measured = null } = budget ?? {};
    return { name, unit, description, value, origin, setWallMs: wallMs, measured };
  });
