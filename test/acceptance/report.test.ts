/** What a whole run amounts to (PROMO-08): safety, progress, and when nobody may call it ready. */
import { describe, expect, it } from 'vitest';
import { verifications } from '../../actors/promotion/acceptanceReport.ts';
import { faults, verified } from '../../cli/acceptance/matrix.ts';
import { exitCodeOf, type Outcome, reportOf } from '../../cli/acceptance/report.ts';
import { claim, type Judgement, notRun } from '../../cli/acceptance/row.ts';
import { lanes } from '../../cli/acceptance/rows.ts';

const heading = {
  program: { version: '0', digest: 'd' },
  host: { kernel: 'k', guardianDigest: 'g' },
  endedWallMs: 1,
};
const good: Judgement = {
  claims: [claim('seen', true)],
  eligibility: [{ eligible: true, justified: true }],
  convergence: { ended: 1, converged: 1 },
};
const ids = [...faults, ...verified].map(({ id }) => id);

const reportWith = (change: Readonly<Record<string, Outcome>> = {}) =>
  reportOf(heading, new Map(ids.map((id) => [id, change[id] ?? good])));

describe('PROMO-08: an acceptance report', () => {
  it('has every fault and every verification, and each is tried by a row', () => {
    expect(faults.map(({ id }) => id)).toEqual(
      Array.from({ length: 12 }, (_, at) => `FAULT-${String(at + 1).padStart(2, '0')}`),
    );
    expect(verified.map(({ id }) => id)).toEqual([...verifications]);
    expect(
      lanes
        .flat()
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...ids].sort());
  });

  it('is ready when every row, safety and progress have passed', () => {
    const report = reportWith();
    expect(report).toMatchObject({ verdict: 'ready', safety: 'passed', progress: 'passed' });
    expect(exitCodeOf(report)).toBe(0);
  });

  it.each(ids)('is not ready without %s, whatever else has passed', (id) => {
    const rowsOf = ({ faults: matrix, verifications: four }: ReturnType<typeof reportWith>) => [...matrix, ...four];
    for (const outcome of ['not_asked', { ...good, claims: [notRun('not run: not allowed')] }] as const) {
      const report = reportWith({ [id]: outcome });
      expect(report.verdict).toBe('not_ready');
      expect(rowsOf(report).find((row) => row.id === id)?.verdict).toBe('not_run');
      expect(exitCodeOf(report)).toBe(0);
    }
    const failed = reportWith({ [id]: { ...good, claims: [claim('seen', false)] } });
    expect(failed.verdict).toBe('not_ready');
    expect(exitCodeOf(failed)).toBe(1);
    const stuck = reportWith({ [id]: { code: 'drill_stuck' } });
    expect(rowsOf(stuck).find((row) => row.id === id)).toMatchObject({ verdict: 'failed' });
    expect(stuck).toMatchObject({ safety: 'not_run', progress: 'not_run', verdict: 'not_ready' });
  });

  it('is unsafe when anything was called safe without being so, even where its row has passed', () => {
    const report = reportWith({ 'FAULT-03': { ...good, eligibility: [{ eligible: true, justified: false }] } });
    expect(report).toMatchObject({ safety: 'failed', verdict: 'not_ready' });
    expect(exitCodeOf(report)).toBe(1);
    const careful = reportWith({ 'FAULT-03': { ...good, eligibility: [{ eligible: false, justified: true }] } });
    expect(careful.safety).toBe('passed');
  });

  it('makes no progress when something that had ended never was known to', () => {
    const report = reportWith({ 'FAULT-05': { ...good, convergence: { ended: 2, converged: 1 } } });
    expect(report).toMatchObject({ progress: 'failed', verdict: 'not_ready' });
    expect(exitCodeOf(report)).toBe(1);
  });

  it('says neither of a run in which nothing was seen', () => {
    const blank: Judgement = { claims: [claim('seen', true)] };
    const report = reportOf(heading, new Map(ids.map((id) => [id, blank])));
    expect(report).toMatchObject({ safety: 'not_run', progress: 'not_run', verdict: 'not_ready' });
  });

  it('marks the sentence that failed', () => {
    const { faults: matrix } = reportWith({ 'FAULT-01': { claims: [claim('one', true), claim('two', false)] } });
    expect(matrix[0]?.observed).toEqual(['one', 'failed: two']);
  });
});
