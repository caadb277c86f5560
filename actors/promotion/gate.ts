/**
 * The gate between the stages (PROMO-04): four dimensions, each the worst of its checks, and each check with the figure it
 * rests on. What was not measured or not tried is missing, and missing is never green.
 */
import type { Problem } from '../../persistence/integrity.ts';
import type { Budget } from '../../persistence/tables/budgets.ts';
import type { GateVerdict } from '../../persistence/tables/gateReports.ts';
import type { MetricsReport } from '../metrics/report.ts';
import type { Acceptance, ContractStanding } from './acceptance.ts';
import type { Verdict } from './acceptanceReport.ts';
import { faultIds } from './acceptanceSchema.ts';
import { type BudgetName, definitionOf } from './budgetDefinitions.ts';
import type { Agreement } from './comparison.ts';
import { type Measured, measured, samplesOf } from './measured.ts';

export type { GateVerdict };
export const dimensions = ['safety', 'recovery', 'coverage', 'latency'] as const;

export interface GateCheck {
  readonly check: string;
  readonly verdict: GateVerdict;
  readonly detail: string;
  /** Null where the check is no comparison of figures, or nothing was measured. */
  readonly measured: number | null;
  readonly bound: number | null;
  readonly unit: string | null;
  /** What was looked at. */
  readonly source: string;
  readonly next: readonly string[];
}

export interface GateDimension {
  readonly dimension: (typeof dimensions)[number];
  readonly verdict: GateVerdict;
  readonly checks: readonly GateCheck[];
}

export interface GateEvidence {
  readonly acceptance: Acceptance;
  readonly metrics: MetricsReport;
  readonly budgets: readonly Budget[];
  readonly contract: ContractStanding;
  readonly openGaps: number;
  /** Worktrees whose records are damaged: nobody can tell of which repository they are. */
  readonly damaged: readonly string[];
  /** What the figures are taken from, as far as it is not what was written. */
  readonly damagedMeasurement: Pick<Problem, 'table' | 'where'> | undefined;
  readonly agreement: Agreement;
}

export function gateDimensions(evidence: GateEvidence): readonly GateDimension[] {
  const checks = {
    safety: [
      acceptanceCheck(evidence, 'acceptance_safety', 'safety'),
      faultCheck(evidence),
      contractCheck(evidence),
      seriesCheck(evidence, { name: 'unsafe_predictions', series: 'predictions_would_be_unsafe', statistic: 'sum' }),
      ...agreementChecks(evidence),
    ],
    recovery: [
      acceptanceCheck(evidence, 'acceptance_progress', 'progress'),
      rollbackCheck(evidence),
      measuredCheck(evidence, 'recovery_time_p95'),
    ],
    coverage: [
      gapCheck(evidence),
      damageCheck(evidence),
      measurementCheck(evidence),
      measuredCheck(evidence, 'unknowns'),
      seriesCheck(evidence, {
        name: 'oldest_unapplied_event_age',
        series: 'oldest_unapplied_event_age',
        statistic: 'largest',
      }),
    ],
    latency: [measuredCheck(evidence, 'pass_duration_p95'), measuredCheck(evidence, 'commit_latency_p95')],
  };
  return dimensions.map((dimension) => ({
    dimension,
    verdict: worst(checks[dimension].map(({ verdict }) => verdict)),
    checks: checks[dimension],
  }));
}

/** What is known to be bad comes before what is not known. */
export function worst(verdicts: readonly GateVerdict[]): GateVerdict {
  if (verdicts.includes('red')) return 'red';
  return verdicts.includes('missing') || verdicts.length === 0 ? 'missing' : 'green';
}

type Said = Pick<GateCheck, 'verdict' | 'detail'> & Partial<GateCheck>;

const check = (name: string, source: string, said: Said): GateCheck => ({
  check: name,
  measured: null,
  bound: null,
  unit: null,
  source,
  next: [],
  ...said,
});

/** The bound in force: what was set, or the one from the beginning; undefined while it has to be measured first. */
export const boundOf = (budgets: readonly Budget[], name: BudgetName): number | undefined =>
  budgets.find((one) => one.name === name)?.value ?? definitionOf(name).initial;

const ofVerdict: Readonly<Record<Verdict, GateVerdict>> = { passed: 'green', failed: 'red', not_run: 'missing' };
const acceptAgain = { next: ['custody acceptance --record'] };

function sourceOf(acceptance: Acceptance): string {
  return 'digest' in acceptance ? `acceptance report ${acceptance.digest.slice(0, 12)}` : 'acceptance report';
}

function unusable(acceptance: Exclude<Acceptance, { state: 'usable' }>): Said {
  const why = {
    none: 'no acceptance run was recorded',
    damaged: 'the record of the newest acceptance run is damaged',
    other: `the newest acceptance run tried another ${acceptance.state === 'other' ? acceptance.what : ''}`,
  }[acceptance.state];
  return { verdict: 'missing', detail: why, ...acceptAgain };
}

function acceptanceCheck({ acceptance }: GateEvidence, name: string, of: 'safety' | 'progress'): GateCheck {
  const source = sourceOf(acceptance);
  if (acceptance.state !== 'usable') return check(name, source, unusable(acceptance));
  const verdict = ofVerdict[acceptance.report[of]];
  const next = verdict === 'green' ? {} : acceptAgain;
  return check(name, source, { verdict, detail: `${of}: ${words[acceptance.report[of]]}`, ...next });
}

const words: Readonly<Record<Verdict, string>> = { passed: 'passed', failed: 'failed', not_run: 'not tried' };

function faultCheck({ acceptance }: GateEvidence): GateCheck {
  const source = sourceOf(acceptance);
  if (acceptance.state !== 'usable') return check('fault_matrix', source, unusable(acceptance));
  const { faults } = acceptance.report;
  const verdictsOf = (id: string): readonly Verdict[] => {
    const rows = faults.filter((row) => row.id === id);
    return rows.length === 0 ? ['not_run'] : rows.map(({ verdict }) => verdict);
  };
  const failed = faults.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id);
  const untried = faultIds.filter((id) => verdictsOf(id).includes('not_run'));
  if (failed.length > 0)
    return check('fault_matrix', source, { verdict: 'red', detail: `failed: ${failed.join(', ')}`, ...acceptAgain });
  if (untried.length > 0)
    return check('fault_matrix', source, {
      verdict: 'missing',
      detail: `not tried: ${untried.join(', ')}`,
      ...acceptAgain,
    });
  return check('fault_matrix', source, { verdict: 'green', detail: `${faults.length} faults withstood` });
}

function rollbackCheck({ acceptance }: GateEvidence): GateCheck {
  const source = sourceOf(acceptance);
  if (acceptance.state !== 'usable') return check('rollback', source, unusable(acceptance));
  const rows = acceptance.report.verifications.filter(({ id }) => id === 'rollback');
  const verdict = worst(rows.map((row) => ofVerdict[row.verdict]));
  const detail = {
    green: 'the way back was tried',
    red: 'the way back has failed',
    missing: 'the way back was not tried',
  };
  return check('rollback', source, { verdict, detail: detail[verdict], ...(verdict === 'green' ? {} : acceptAgain) });
}

function contractCheck({ contract }: GateEvidence): GateCheck {
  const source = 'containment contract of this host';
  if (contract === 'full')
    return check('containment_contract', source, { verdict: 'green', detail: 'verified with the whole battery' });
  const detail =
    contract === 'short' ? 'verified with the short battery only' : 'not verified for this kernel and guardian';
  return check('containment_contract', source, { verdict: 'missing', detail, next: ['custody contract verify'] });
}

interface SeriesOf {
  readonly name: BudgetName;
  readonly series: string;
  readonly statistic: 'sum' | 'largest';
}

/** A figure that has a bound from the beginning. */
function seriesCheck({ metrics, budgets }: GateEvidence, { name, series, statistic }: SeriesOf): GateCheck {
  const { unit } = definitionOf(name);
  const found = measured(metrics, series, { statistic, unit });
  return compared(name, `series ${series}`, { found, bound: boundOf(budgets, name), unit });
}

/** A figure whose bound was measured on this host; too few values keep no budget. */
function measuredCheck({ metrics, budgets }: GateEvidence, name: BudgetName): GateCheck {
  const { unit, measuring } = definitionOf(name);
  if (measuring === undefined) throw new Error(`${name} is not measured`);
  const { series, statistic, samples: needed, sampledBy = series } = measuring;
  const samples = samplesOf(metrics, sampledBy);
  const source = `series ${series}, ${samples} values of ${sampledBy}`;
  const found = measured(metrics, series, { statistic, unit });
  if (found !== undefined && samples < needed)
    return check(name, source, {
      verdict: 'missing',
      detail: `${plural(samples, 'value')}; ${needed - samples} more ${needed - samples === 1 ? 'is' : 'are'} needed`,
      unit,
      next: supplyOf(name),
    });
  return compared(name, source, { found, bound: boundOf(budgets, name), unit });
}

/** What makes more of a figure, where waiting alone does not. */
function supplyOf(name: string): string[] {
  if (name === 'recovery_time_p95') return ['custody daemon restart --keep-work'];
  if (name === 'unsafe_predictions') return ['custody worktrees predict WORKTREE'];
  return ['custody metrics'];
}

interface Comparable {
  readonly found: Measured | undefined;
  readonly bound: number | undefined;
  readonly unit: string;
}

function compared(name: string, source: string, { found, bound, unit }: Comparable): GateCheck {
  const figures = { measured: found?.value ?? null, bound: bound ?? null, unit };
  if (found === undefined)
    return check(name, source, { verdict: 'missing', detail: 'not measured', ...figures, next: supplyOf(name) });
  if (bound === undefined)
    return check(name, source, { verdict: 'missing', detail: 'no budget', ...figures, next: [measureCommand] });
  const verdict = found.value <= bound ? 'green' : 'red';
  const detail = verdict === 'green' ? 'within the budget' : 'above the budget';
  return check(name, source, { verdict, detail, ...figures, next: verdict === 'green' ? [] : ['custody metrics'] });
}

export const measureCommand = 'custody promote budgets --measure';

function gapCheck({ openGaps, budgets }: GateEvidence): GateCheck {
  const bound = boundOf(budgets, 'open_coverage_gaps') ?? 0;
  const verdict = openGaps <= bound ? 'green' : 'red';
  return check('open_coverage_gaps', 'coverage gaps on record', {
    verdict,
    detail: openGaps === 0 ? 'none is open' : `${openGaps} open`,
    ...{ measured: openGaps, bound, unit: 'count' },
    next: verdict === 'green' ? [] : ['custody coverage'],
  });
}

function measurementCheck({ damagedMeasurement: row }: GateEvidence): GateCheck {
  const source = 'measurements';
  if (row === undefined)
    return check('measurements', source, { verdict: 'green', detail: 'all are as they were written' });
  const detail = `row ${row.where} of ${row.table} is damaged: no figure can be relied on`;
  return check('measurements', source, { verdict: 'red', detail, next: ['custody doctor'] });
}

function damageCheck({ damaged }: GateEvidence): GateCheck {
  return check('damaged_records', 'records of worktrees', {
    verdict: damaged.length === 0 ? 'green' : 'red',
    detail: damaged.length === 0 ? 'none is damaged' : `damaged: ${damaged.slice(0, 8).join(', ')}`,
    ...{ measured: damaged.length, bound: 0, unit: 'count' },
    next: damaged.length === 0 ? [] : ['custody doctor'],
  });
}

function agreementChecks({ agreement, budgets }: GateEvidence): GateCheck[] {
  const source = 'comparison with the old system';
  const needed = boundOf(budgets, 'compared_outcomes') ?? 0;
  const figure = (name: 'undecided_unsafe' | 'undecided_other', count: number): GateCheck => {
    const bound = boundOf(budgets, name) ?? 0;
    const isWithin = count <= bound;
    return check(name, source, {
      verdict: isWithin ? 'green' : 'red',
      detail: `${plural(count, 'disagreement')} nobody has decided`,
      ...{ measured: count, bound, unit: 'count' },
      next: isWithin ? [] : ['custody promote compare'],
    });
  };
  const { compared: count, oursWrong, undecidedUnsafe, undecidedOther } = agreement;
  return [
    check('compared_outcomes', source, {
      verdict: count >= needed ? 'green' : 'missing',
      detail: count >= needed ? 'enough was compared' : `${needed - count} more are needed`,
      ...{ measured: count, bound: needed, unit: 'count' },
      next: count >= needed ? [] : ['custody promote compare --outcomes FILE'],
    }),
    check('ours_wrong', source, {
      verdict: oursWrong === 0 ? 'green' : 'red',
      detail: oursWrong === 0 ? 'never found to be wrong' : `found to be wrong ${oursWrong} times`,
      ...{ measured: oursWrong, bound: 0, unit: 'count' },
      next: oursWrong === 0 ? [] : ['custody promote compare'],
    }),
    figure('undecided_unsafe', undecidedUnsafe),
    figure('undecided_other', undecidedOther),
  ];
}

const plural = (count: number, one: string): string => `${count} ${count === 1 ? one : `${one}s`}`;
