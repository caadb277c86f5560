/** Evidence with which every gate is green, out of files, and ways to make one piece of it worse. */
import { readFileSync } from 'node:fs';
import type { MetricsReport, Series } from '../../../actors/metrics/report.ts';
import { type Acceptance, readinessOf } from '../../../actors/promotion/acceptance.ts';
import type { AcceptanceReport, AcceptanceRow } from '../../../actors/promotion/acceptanceReport.ts';
import { type GateEvidence, gateDimensions } from '../../../actors/promotion/gate.ts';
import type { StageEvidence, UnitStanding } from '../../../actors/promotion/stages.ts';
import type { Budget } from '../../../persistence/tables/budgets.ts';

const fixture = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url), 'utf8'));

export const acceptanceFixture = (): AcceptanceReport => fixture('acceptance');
export const metricsFixture = (): MetricsReport => fixture('metrics');
export const budgetsFixture = (): readonly Budget[] => fixture('budgets');

export const usable = (report: AcceptanceReport): Acceptance => ({
  state: 'usable',
  report,
  digest: 'c'.repeat(64),
  wallMs: report.endedWallMs,
});

export const agreed = { compared: 40, agreed: 38, oursWrong: 0, theirsWrong: 2, undecidedUnsafe: 0, undecidedOther: 0 };

export const greenEvidence = (more: Partial<GateEvidence> = {}): GateEvidence => ({
  acceptance: usable(acceptanceFixture()),
  metrics: metricsFixture(),
  budgets: budgetsFixture(),
  contract: 'full',
  openGaps: 0,
  damaged: [],
  damagedMeasurement: undefined,
  agreement: agreed,
  ...more,
});

export const standing: UnitStanding = {
  watched: ['W1'],
  controlled: ['W2'],
  proved: ['W2'],
  unresolved: [],
  damaged: [],
};

export function stageEvidence(more: Partial<GateEvidence> = {}, of: Partial<UnitStanding> = {}): StageEvidence {
  const evidence = greenEvidence(more);
  return {
    standing: { ...standing, ...of },
    dimensions: gateDimensions(evidence),
    readiness: readinessOf(evidence.acceptance, evidence.contract),
    budgets: evidence.budgets,
  };
}

/** The report with another verdict in one of its rows, or without that row. */
export function withRow(id: string, verdict: AcceptanceRow['verdict'] | undefined): AcceptanceReport {
  const report = acceptanceFixture();
  const changed = (rows: readonly AcceptanceRow[]) =>
    rows.flatMap((row) => (row.id !== id ? [row] : verdict === undefined ? [] : [{ ...row, verdict }]));
  return { ...report, faults: changed(report.faults), verifications: changed(report.verifications) };
}

/** The report with other figures for a series, or, for undefined, without the series. */
export function withSeries(name: string, figures: Partial<Series['measured']> | undefined): MetricsReport {
  const { window, series } = metricsFixture();
  return {
    window,
    series: series.flatMap((one): Series[] => {
      if (one.name !== name) return [one];
      return figures === undefined ? [] : [{ ...one, measured: { ...one.measured, ...figures } as Series['measured'] }];
    }),
  };
}
