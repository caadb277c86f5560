/** What commits cost is measured from outside of them, and written down by the minute (METR-01). */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { latencyOf } from '../../actors/metrics/distribution.ts';
import { bucketOf, bucketUs, CommitMeter } from '../../persistence/commitMeter.ts';
import { takeRefusals } from '../../persistence/refusals.ts';
import { openStore } from '../../persistence/store.ts';
import { keptMinutes, merged } from '../../persistence/tables/commitMinutes.ts';
import { tickingClock } from '../persistence/support/clock.ts';
import { newStore } from '../persistence/support/temporaryStore.ts';
import { writerBeside } from './support/writerBeside.ts';

const quiet = { attempts: 1, busy: 0, committed: 1, longestUs: 5, buckets: new Map([[bucketOf(5), 1]]), journaled: 2 };

describe('METR-01: commits', () => {
  it('are counted in buckets of 5 %, and no percentile is below the truth or above the longest', () => {
    const meter = new CommitMeter(() => 60_000);
    const durations = Array.from({ length: 200 }, (_, n) => 3 + n * 17.3);
    for (const us of durations) meter.attempted(false, us);
    const [minute] = meter.pending();
    const { p50, p95, max, count } = latencyOf({ ...minute!, ...merged([{ ...minute!, journaled: 0 }]) });
    const exact = (q: number) => durations[Math.ceil(q * durations.length) - 1]! / 1_000;
    for (const [said, q] of [[p50, 0.5] as const, [p95, 0.95] as const]) {
      expect(said).toBeGreaterThanOrEqual(exact(q) * 0.999);
      expect(said).toBeLessThanOrEqual(exact(q) * 1.05);
    }
    expect(max).toBeCloseTo(exact(1), 2);
    expect(count).toBe(200);
    for (const us of [0, 1, 1.01, 7, 1e6]) expect(bucketUs(bucketOf(us))).toBeGreaterThanOrEqual(us * 0.999);
  });

  it('are measured whatever becomes of them, and never by what writes the measurement', () => {
    const store = newStore();
    store.write(() => store.meta.set('test.a', '1'));
    const before = store.commits.pending();
    expect(() =>
      store.write(() => {
        // Nothing is written down inside of what is measured.
        expect(store.commits.pending()).toEqual(before);
        throw new Error('stop');
      }),
    ).toThrow('stop');
    store.writeUncounted(() => store.meta.set('test.a', '2'));
    expect(store.commits.pending()).toMatchObject([{ attempts: 2, committed: 1, busy: 0 }]);
  });

  it('that meet a lock are busy: when they get it after all, and when they do not (CONC-01)', async () => {
    const store = newStore({ busyMs: 60_000 });
    store.write(() => store.meta.set('test.a', '1'));
    const other = await writerBeside(join(store.stateDir, 'custody.db'));
    const letGo = other.letGoAfter(100);
    store.write(() => store.meta.set('test.a', '2'));
    await letGo;
    expect(store.commits.pending()).toMatchObject([{ attempts: 2, committed: 2, busy: 1 }]);
    expect(store.commits.pending()[0]!.longestUs).toBeGreaterThan(20_000);
    store.close();

    const hasty = openStore({ stateDir: store.stateDir, clock: tickingClock(), create: false, busyMs: 20 });
    const again = await writerBeside(join(store.stateDir, 'custody.db'));
    expect(() => hasty.write(() => hasty.meta.set('test.a', '3'))).toThrow('locked');
    await again.letGoAfter(0);
    hasty.write(() => hasty.meta.set('test.a', '4'));
    expect(hasty.commits.pending()).toMatchObject([{ attempts: 2, committed: 1, busy: 1 }]);
    hasty.close();
  });

  it('an opening that finds another process at the store is counted by the next writer, in a bounded private file', () => {
    const store = newStore();
    const attempt = () => openStore({ stateDir: store.stateDir, clock: tickingClock(), create: false });
    for (const _ of [1, 2, 3]) expect(attempt).toThrow('another Custody process');
    const first = takeRefusals(store.stateDir, store.totals);
    expect(first).toEqual({ refused: 3, seen: 3 });
    store.write(() => store.totals.set('refusals_seen', first.seen));
    expect(takeRefusals(store.stateDir, store.totals)).toEqual({ refused: 0, seen: 3 });
    const file = join(store.stateDir, 'lock.refused');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    writeFileSync(file, '.'.repeat(65_536));
    expect(attempt).toThrow('another Custody process');
    expect(readFileSync(file)).toHaveLength(65_536);
    expect(takeRefusals(store.stateDir, store.totals)).toEqual({ refused: 65_533, seen: 0 });
    expect(readFileSync(file)).toHaveLength(0);
    // Emptied by somebody who did not come to say so.
    expect(attempt).toThrow();
    expect(takeRefusals(store.stateDir, store.totals)).toEqual({ refused: 1, seen: 1 });
  });

  it('are kept for so many minutes, and their sums for good', () => {
    const store = newStore();
    const beside = new Database(join(store.stateDir, 'custody.db'));
    beside.exec(`WITH RECURSIVE m (minute) AS (SELECT 1 UNION ALL SELECT minute + 1 FROM m WHERE minute < ${keptMinutes})
      INSERT INTO commit_minutes SELECT minute, 1, 0, 1, 5, '[]', 2, '' FROM m`);
    beside.close();
    store.write(() => {
      for (const later of [1, 2, 3, 3]) store.commitMinutes.add({ minute: keptMinutes + later, ...quiet });
    });
    const kept = store.commitMinutes.between(0, Number.MAX_SAFE_INTEGER);
    expect(kept).toHaveLength(keptMinutes);
    expect(kept[0]).toMatchObject({ minute: 4 });
    expect(kept.at(-1)).toMatchObject({ attempts: 2, journaled: 4, buckets: new Map([[bucketOf(5), 2]]) });
    expect(store.totals.of('commits')).toBe(4);
  });

  it('that cannot be written down for hours do not fill the memory', () => {
    let wallMs = 0;
    const meter = new CommitMeter(() => wallMs);
    for (wallMs = 0; wallMs < 60_000 * 500; wallMs += 60_000) meter.attempted(false, 1);
    const minutes = meter.pending().map(({ minute }) => minute);
    expect(minutes).toHaveLength(120);
    expect(minutes.at(-1)).toBe(499);
  });
});
