/** Stages, gate reports, acceptance reports, budgets and comparisons as rows (PROMO-03, PROMO-04, METR-02). */
import { describe, expect, it } from 'vitest';
import type { Store } from '../../persistence/store.ts';
import type { Comparison } from '../../persistence/tables/comparisons.ts';
import type { PromotionChange, PromotionUnit } from '../../persistence/tables/promotions.ts';
import { tamper } from './support/tamper.ts';
import { newStore } from './support/temporaryStore.ts';

const unit: PromotionUnit = { unitId: 'U1', commonGitDir: '/r/.git', path: '/r' };
const changeOf = (version: number, more: Partial<PromotionChange> = {}): PromotionChange => ({
  version,
  from: 'tracking',
  to: 'comparing',
  by: 'operator',
  wallMs: 1,
  requestId: `q${version}`,
  reportId: null,
  reportDigest: null,
  ...more,
});

describe('the stage of a repository', () => {
  it('changes only from the version that the change was decided on: of two one wins, and leaves its history', () => {
    const store = newStore();
    const change = (one: PromotionChange) => store.write(() => store.promotions.change(unit, one));
    expect(store.promotions.find('/r/.git')).toBeUndefined();
    expect(change(changeOf(1))).toBe(true);
    expect(change(changeOf(1, { requestId: 'other' }))).toBe(false);
    expect(change(changeOf(2, { from: 'comparing', to: 'canary', reportId: 'Y1', reportDigest: 'd' }))).toBe(true);
    expect(change(changeOf(2, { requestId: 'late', to: 'tracking' }))).toBe(false);
    expect(store.promotions.find('/r/.git')).toEqual({ ...unit, stage: 'canary', version: 2 });
    expect(store.promotions.changes('U1').map(({ to, reportId }) => [to, reportId])).toEqual([
      ['comparing', null],
      ['canary', 'Y1'],
    ]);
    expect(store.promotions.changeOfRequest('q2')).toMatchObject({ unitId: 'U1', to: 'canary' });
  });
});

describe('reports', () => {
  it('are found by id, the newest of a repository is known, and one that was changed is not believed', () => {
    const store = newStore();
    const row = { unitId: 'U1', wallMs: 1, report: { says: 'yes' } };
    const digest = store.write(() => {
      store.gateReports.insert({ ...row, reportId: 'Y1', verdict: 'green' });
      return store.gateReports.insert({ ...row, reportId: 'Y2', verdict: 'red' });
    });
    expect(store.gateReports.newest('U1')).toMatchObject({ reportId: 'Y2', digest, intact: true });
    expect(store.gateReports.find('Y1')).toMatchObject({ verdict: 'green', intact: true, report: { says: 'yes' } });
    tamper(store, "UPDATE gate_reports SET verdict = 'green' WHERE report_id = 'Y2'");
    expect(store.gateReports.find('Y2')).toMatchObject({ intact: false, report: null });
  });

  it('of acceptance runs are kept in a bounded number, and the newest counts', () => {
    const store = newStore();
    store.write(() => {
      for (let n = 1; n <= 103; n += 1) store.acceptanceReports.insert(n, { n });
    });
    expect(store.acceptanceReports.newest()).toMatchObject({ wallMs: 103, report: { n: 103 } });
    tamper(store, "UPDATE acceptance_reports SET report = '{}' WHERE wall_ms = 103");
    expect(store.acceptanceReports.newest()).toMatchObject({ report: null });
  });
});

it('a budget is replaced by the next one, with what it was taken from', () => {
  const store = newStore();
  const measured = { name: 'unknowns', value: 4, origin: 'measured', wallMs: 1, measured: { samples: 100 } } as const;
  const byHand = { ...measured, value: 9.5, origin: 'by_hand', measured: null } as const;
  store.write(() => store.budgets.put(measured));
  expect(store.budgets.list()).toEqual([measured]);
  store.write(() => store.budgets.put(byHand));
  expect(store.budgets.list()).toEqual([byHand]);
});

it('comparisons are counted by round and verdict, and those that nobody decided come first (PROMO-03)', () => {
  const store = newStore();
  const of = (comparisonId: string, more: Partial<Comparison>): Comparison => ({
    ...{ comparisonId, unitId: 'U1', round: 1, runId: 'R1', ours: 'ended', theirs: 'running', truth: null },
    ...{ truthSource: null, toldWallMs: 1, comparedWallMs: 2, verdict: 'undecided', unsafe: true },
    ...{ triagedBy: null, triagedWallMs: null, note: null, ...more },
  });
  store.write(() => {
    store.comparisons.put(of('D1', { verdict: 'agreed', unsafe: false }));
    store.comparisons.put(of('D2', { verdict: 'theirs_wrong', truth: 'ended', truthSource: 'guardian_receipt' }));
    store.comparisons.put(of('D3', {}));
    store.comparisons.put(of('D4', { round: 3 }));
  });
  const round = { unitId: 'U1', round: 1 };
  expect(store.comparisons.disagreements(round, 10).map(({ comparisonId }) => comparisonId)).toEqual(['D3', 'D2']);
  store.write(() =>
    store.comparisons.triage({ comparisonId: 'D3', verdict: 'ours_wrong', by: 'operator', wallMs: 3, note: 'seen' }),
  );
  expect(store.comparisons.find('D3')).toMatchObject({ verdict: 'ours_wrong', triagedBy: 'operator', note: 'seen' });
  expect(store.comparisons.counts(round)).toContainEqual({ verdict: 'ours_wrong', unsafe: true, count: 1 });
  expect(store.comparisons.counts({ unitId: 'U1', round: 3 })).toEqual([
    { verdict: 'undecided', unsafe: true, count: 1 },
  ]);
});

describe('ruling 27: what promotion is decided on is not believed once it is damaged', () => {
  const comparison: Comparison = {
    ...{ comparisonId: 'D1', unitId: 'U1', round: 1, runId: 'R1', ours: 'ended', theirs: 'running', truth: 'running' },
    ...{ truthSource: 'verified_file', toldWallMs: 1, comparedWallMs: 2, verdict: 'ours_wrong', unsafe: true },
    ...{ triagedBy: null, triagedWallMs: null, note: null },
  };
  function furnished(): Store {
    const store = newStore();
    store.write(() => {
      store.promotions.change(unit, changeOf(1));
      store.budgets.put({ name: 'unknowns', value: 4, origin: 'measured', wallMs: 1, measured: null });
      store.comparisons.put(comparison);
      store.gateReports.insert({ unitId: 'U1', wallMs: 1, reportId: 'Y1', verdict: 'red', report: {} });
      store.acceptanceReports.insert(1, {});
    });
    return store;
  }
  const round = { unitId: 'U1', round: 1 };

  it.each<[table: string, sql: string, read: (store: Store) => unknown]>([
    ['promotions', "UPDATE promotions SET stage = 'wide'", ({ promotions }) => promotions.find('/r/.git')],
    ['promotions', "UPDATE promotions SET stage = 'wide'", ({ promotions }) => promotions.list()],
    [
      'promotions',
      "UPDATE promotions SET stage = 'wide'",
      (store) => store.write(() => store.promotions.change(unit, changeOf(2))),
    ],
    ['promotion_changes', 'UPDATE promotion_changes SET to_stage = from_stage', (s) => s.promotions.changes('U1')],
    [
      'promotion_changes',
      'UPDATE promotion_changes SET report_id = 1',
      ({ promotions }) => promotions.changeOfRequest('q1'),
    ],
    ['budgets', 'UPDATE budgets SET value = 4000', ({ budgets }) => budgets.list()],
    ['comparisons', "UPDATE comparisons SET verdict = 'agreed'", ({ comparisons }) => comparisons.counts(round)],
    ['comparisons', 'UPDATE comparisons SET unsafe = 0', ({ comparisons }) => comparisons.find('D1')],
    ['comparisons', "UPDATE comparisons SET ours = 'x'", ({ comparisons }) => comparisons.disagreements(round, 10)],
  ])('%s: %s', async (table, sql, read) => {
    const store = furnished();
    expect(() => read(store)).not.toThrow();
    expect(await store.check()).toMatchObject({ ok: true });
    const other = furnished();
    tamper(other, sql);
    expect(() => read(other)).toThrow(expect.objectContaining({ code: 'store_corrupt' }));
    expect((await other.check()).problems).toMatchObject([{ table, problem: 'digest_mismatch' }]);
  });

  it.each([
    ['gate_reports', "UPDATE gate_reports SET verdict = 'green'"],
    ['acceptance_reports', 'UPDATE acceptance_reports SET wall_ms = 2'],
  ])('the full check names damaged %s', async (table, sql) => {
    const store = furnished();
    tamper(store, sql);
    expect((await store.check()).problems).toMatchObject([{ table, problem: 'digest_mismatch' }]);
  });

  it('a damaged budget is set anew', () => {
    const store = furnished();
    tamper(store, 'UPDATE budgets SET value = 4000');
    const again = { name: 'unknowns', value: 5, origin: 'by_hand', wallMs: 2, measured: null } as const;
    store.write(() => store.budgets.put(again));
    expect(store.budgets.list()).toEqual([again]);
  });
});
