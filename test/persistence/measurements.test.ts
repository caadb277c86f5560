/** PROMO-04, ruling 27: a measurement that is not what was written is found before anything is decided on it. */
import { describe, expect, it } from 'vitest';
import type { Store } from '../../persistence/store.ts';
import type { Comparison } from '../../persistence/tables/comparisons.ts';
import { keptGateReports } from '../../persistence/tables/gateReports.ts';
import { passesAtOnce } from '../../persistence/tables/passes.ts';
import { tamper } from './support/tamper.ts';
import { newStore } from './support/temporaryStore.ts';

const minute = {
  minute: 7,
  attempts: 3,
  busy: 1,
  committed: 2,
  longestUs: 90,
  buckets: new Map([[1, 2]]),
  journaled: 4,
};

function measured(): Store {
  const store = newStore();
  store.write(() => {
    store.commitMinutes.add(minute);
    store.recoveries.add({ wallMs: 1, who: 'daemon', elapsedUs: 9_000 });
    store.contradictions.record({ prediction: 'p', wallMs: 1, evidence: 'e' });
    store.passes.add({
      wallMs: 1,
      elapsedUs: 2,
      reads: 3,
      lookedAt: 1,
      deferred: 0,
      outcomes: { 'unknown:denied': 1 },
    });
    store.coverageGaps.record({
      ...{ gapId: 'g', producer: 'shell', kind: 'note_lost', fromWallMs: 1, toWallMs: 2 },
      ...{ count: 1, bootId: 'b' },
    });
  });
  return store;
}

describe('a measurement', () => {
  it('is intact as it was written, and when it was added to', () => {
    const store = measured();
    store.write(() => store.commitMinutes.add(minute));
    expect(store.commitMinutes.between(7, 7)).toMatchObject([{ attempts: 6, journaled: 8 }]);
    expect(store.totals.of('commit_attempts')).toBe(6);
    expect([...store.totals.byLabel('unknowns')]).toEqual([['denied', 1]]);
    expect(store.damagedMeasurement()).toBeUndefined();
  });

  it.each([
    ['commit_minutes', 'UPDATE commit_minutes SET longest_us = 1'],
    ['recoveries', 'UPDATE recoveries SET elapsed_us = 1'],
    ['contradictions', 'UPDATE contradictions SET wall_ms = 0'],
    ['totals', "UPDATE totals SET value = value + 1 WHERE name = 'contradictions'"],
    ['passes', "UPDATE passes SET outcomes = '{}'"],
    ['coverage_gaps', "UPDATE coverage_gaps SET closed_by = 'boot_epoch'"],
  ])('of %s that was changed is named, by the gate and by the full check', async (table, sql) => {
    const store = measured();
    tamper(store, sql);
    expect(store.damagedMeasurement()).toMatchObject({ table, problem: 'digest_mismatch' });
    expect((await store.check()).problems).toContainEqual(store.damagedMeasurement());
  });

  it('that was changed is not made sound by adding to it', () => {
    const store = measured();
    tamper(store, 'UPDATE commit_minutes SET longest_us = 1');
    store.write(() => store.commitMinutes.add(minute));
    expect(store.damagedMeasurement()).toMatchObject({ table: 'commit_minutes' });
  });

  it('that was changed holds up nothing that is written with it, and stays damaged', () => {
    const store = measured();
    tamper(store, "UPDATE totals SET value = value | 64 WHERE name IN ('passes', 'unknowns')");
    const pass = { wallMs: 2, elapsedUs: 2, reads: 3, lookedAt: 1, deferred: 0, outcomes: { 'unknown:denied': 1 } };
    store.write(() => {
      store.meta.set('cursor', 'S1');
      store.passes.add(pass);
    });
    expect([store.meta.get('cursor'), store.passes.newest(9).length]).toEqual(['S1', 2]);
    expect(() => store.totals.of('passes')).toThrow(/damaged/);
    expect(() => store.totals.byLabel('unknowns')).toThrow(/damaged/);
    expect(store.totals.of('pass_reads')).toBe(6);
    // Nor is it made sound by whoever flips the bit back.
    tamper(store, "UPDATE totals SET value = value & ~64 WHERE name IN ('passes', 'unknowns')");
    expect(() => store.totals.of('passes')).toThrow(/damaged/);
    expect(store.damagedMeasurement()).toMatchObject({ table: 'totals' });
  });
});

describe('what promotion keeps', () => {
  it('is the newest gate reports, and those that something rests on', () => {
    const store = newStore();
    const insert = (reportId: string, unitId = 'U1') =>
      store.write(() => store.gateReports.insert({ reportId, unitId, verdict: 'red', wallMs: 1, report: {} }));
    insert('Ycited');
    insert('Yold');
    insert('Yother', 'U2');
    const change = { version: 1, from: 'tracking', to: 'comparing', by: 'operator', wallMs: 1 } as const;
    const unit = { unitId: 'U1', commonGitDir: '/r/.git', path: '/r' };
    const cites = { requestId: 'q', reportId: 'Ycited', reportDigest: 'd' };
    store.write(() => store.promotions.change(unit, { ...change, ...cites }));
    for (let n = 0; n < keptGateReports; n += 1) insert(`Y${n}`);
    expect(['Ycited', 'Yold', 'Yother', 'Y0'].map((id) => store.gateReports.find(id) !== undefined)).toEqual([
      ...[true, false, true, true],
    ]);
  });

  it('is the present comparing and the one before it, with every disagreement', () => {
    const store = newStore();
    const comparison: Omit<Comparison, 'comparisonId' | 'round'> = {
      ...{ unitId: 'U1', runId: 'R1', ours: 'ended', theirs: 'running', truth: null, truthSource: null },
      ...{ toldWallMs: 1, comparedWallMs: 1, verdict: 'undecided' as const, unsafe: true },
      ...{ triagedBy: null, triagedWallMs: null, note: null },
    };
    store.write(() => {
      for (const round of [1, 3, 5]) store.comparisons.put({ ...comparison, comparisonId: `D${round}`, round });
      store.comparisons.trim({ unitId: 'U1', round: 5 });
    });
    expect(['D1', 'D3', 'D5'].map((id) => store.comparisons.find(id) !== undefined)).toEqual([false, true, true]);
  });
});

describe('pages of passes', () => {
  it('go on behind the last one, leave out who looked at nobody, and take a damaged row for what is left of it', () => {
    const store = newStore();
    const pass = { elapsedUs: 2, reads: 3, lookedAt: 1, deferred: 0, outcomes: {} };
    const count = passesAtOnce + 2;
    store.write(() => {
      for (let n = 0; n < count; n += 1) store.passes.add({ ...pass, wallMs: 5 + (n % 2), lookedAt: n === 4 ? 0 : 1 });
      store.passes.add({ ...pass, wallMs: 5, outcomes: { alive: 1, 'unknown:denied': 4 } });
      store.passes.add({ ...pass, wallMs: 4 });
      store.passes.add({ ...pass, wallMs: 7 });
    });
    const first = store.passes.page(5, 6);
    expect(first.passes).toHaveLength(passesAtOnce - 1);
    expect(first.passes.filter(({ unknowns }) => 'denied' in unknowns)).toEqual([
      { wallMs: 5, elapsedUs: 2, reads: 3, unknowns: { denied: 4 } },
    ]);
    const second = store.passes.page(5, 6, first.next);
    expect(second).toMatchObject({ next: undefined });
    expect(second.passes).toHaveLength(3);
    tamper(store, `UPDATE passes SET outcomes = '{"unknown:denied":' WHERE outcomes <> '{}'`);
    expect(store.passes.page(5, 6).passes).toHaveLength(passesAtOnce - 1);
  });
});

describe('changes of gaps', () => {
  it('add up to what is on record, whatever the clocks of producers say', () => {
    const store = newStore();
    const gap = { producer: 'shell', kind: 'note_lost', fromWallMs: 1, count: 1, bootId: 'b' };
    store.write(() => {
      for (const [gapId, toWallMs] of Object.entries({ before: 99, first: 100, ahead: 9_999, put: 250 }))
        store.coverageGaps.record({ ...gap, gapId, toWallMs });
      // Closed before it ended, as it seems.
      store.coverageGaps.close('put', 'sweep', 150);
    });
    expect(store.coverageGaps.changes({ fromMs: 100, stepMs: 100, count: 3 })).toEqual([
      { producer: 'shell', step: -1, recorded: 1, closed: 0 },
      { producer: 'shell', step: 0, recorded: 2, closed: 1 },
      { producer: 'shell', step: 2, recorded: 1, closed: 0 },
    ]);
  });
});
