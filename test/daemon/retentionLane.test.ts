/** RET-01: when the daemon shortens its journal by itself. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createActor } from 'xstate';
import { loadConfig } from '../../actors/daemon/config.ts';
import { PendingLaunches } from '../../actors/daemon/launch/pendingLaunches.ts';
import { RetentionLane } from '../../actors/daemon/retention/lane.ts';
import { rootMachine } from '../../actors/daemon/root.ts';
import { placesOf } from '../../actors/runtime/places.ts';
import { rowsIn } from '../../persistence/checkpoint/checkpoint.ts';
import { FakeClock } from '../observe/support/fakeClock.ts';
import { History, idOf } from '../persistence/support/history.ts';
import { newStore } from '../persistence/support/temporaryStore.ts';

async function lane(more: Readonly<Record<string, string>> = {}) {
  const past = new History(newStore());
  const { store, host } = past;
  const places = placesOf({ stateDir: store.stateDir, env: { HOME: store.stateDir } });
  const env = {
    CUSTODY_JOURNAL_ROWS: '1000',
    CUSTODY_JOURNAL_AGE_HOURS: '0',
    CUSTODY_JOURNAL_STEP_ROWS: '100',
    ...more,
  };
  const { config } = loadConfig(places, env);
  const clock = new FakeClock();
  const root = createActor(rootMachine, { input: { pausedBefore: false } }).start();
  root.send({ type: 'recovery.completed' });
  const leaving = new AbortController();
  const made = new RetentionLane({
    ...{ host, store, clock, config, root, places },
    pendingLaunches: new PendingLaunches(),
    leaving: leaving.signal,
    log: pino({ level: 'silent' }),
    failpoint: () => {},
  });
  onTestFinished(async () => {
    leaving.abort(new Error('leaving'));
    await made.close();
    await host.close();
    root.stop();
  });
  /** Goes on until nobody waits for the clock but whoever looks once a minute, at most so many pauses. */
  const goOn = async (pauses: number) => {
    for (let n = 0; n < pauses; n += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(50);
    }
  };
  return { past, store, clock, root, lane: made, goOn };
}

describe('RET-04: the lane that removes files', () => {
  const filesOf = (stateDir: string, n: number) => join(stateDir, 'scopes', idOf('S', n));

  function makeFiles(stateDir: string, n: number): void {
    mkdirSync(filesOf(stateDir, n), { recursive: true });
    writeFileSync(join(filesOf(stateDir, n), 'stdout.log'), 'out');
  }

  it('removes what was proved long enough ago, nothing that lives or encloses what does, and says once what went', async () => {
    const {
      past,
      store,
      clock,
      lane: made,
      goOn,
    } = await lane({
      CUSTODY_ARTIFACTS: 'retire',
      CUSTODY_ARTIFACT_AGE_HOURS: '1',
    });
    await past.live(1);
    await past.live(2, { ends: false });
    await past.live(3);
    await past.live(4, { ends: false, parentScopeId: idOf('S', 3) });
    for (const n of [1, 2, 3, 4]) makeFiles(store.stateDir, n);
    const left = () => [1, 2, 3, 4].filter((n) => existsSync(filesOf(store.stateDir, n)));
    made.look();
    await goOn(20);
    expect(left()).toEqual([1, 2, 3, 4]);
    clock.setWall(2 * 3_600_000);
    clock.advance(3_600_000);
    made.look();
    await goOn(20);
    expect(left()).toEqual([2, 3, 4]);
    expect(store.retentions.newest(9)).toMatchObject([
      { what: 'artifacts', report: { retired: { scopes: 1, sessions: 0, bytes: 3 }, kept: { nested_not_proved: 1 } } },
    ]);
  });

  it('keeps everything unless it was told otherwise', async () => {
    const { past, store, clock, lane: made, goOn } = await lane();
    await past.live(1);
    makeFiles(store.stateDir, 1);
    clock.setWall(1_000 * 24 * 3_600_000);
    made.look();
    await goOn(20);
    expect(existsSync(filesOf(store.stateDir, 1))).toBe(true);
  });
});

describe('RET-01: the lane that shortens the journal', () => {
  it('begins when the journal is longer than it may be, and not before', async () => {
    const { past, store, clock, lane: made, goOn } = await lane();
    made.start();
    for (let n = 0; n < 4; n += 1) await past.live(n, { observations: 190 });
    const before = rowsIn(store);
    clock.advance(60_000);
    await goOn(20);
    expect(rowsIn(store)).toBe(before);
    for (let n = 4; n < 8; n += 1) await past.live(n, { observations: 190 });
    clock.advance(60_000);
    await goOn(200);
    expect(rowsIn(store)).toBeLessThan(200);
    expect(store.retentions.newest(9)).toHaveLength(1);
  });

  it('waits while everything is ended, and goes on afterwards', async () => {
    const { past, store, root, lane: made, goOn } = await lane();
    for (let n = 0; n < 8; n += 1) await past.live(n, { observations: 190 });
    const before = rowsIn(store);
    root.send({ type: 'drain.started' });
    made.look();
    await goOn(100);
    expect(rowsIn(store)).toBe(before);
    root.send({ type: 'drain.ended' });
    await goOn(200);
    expect(rowsIn(store)).toBeLessThan(200);
  });

  it('an operator does not wait for it to be idle, and what is left is not swept again and again', async () => {
    const { past, store, root, lane: made, goOn } = await lane();
    for (let n = 0; n < 8; n += 1) await past.live(n, { observations: 190, ends: n < 1 });
    root.send({ type: 'drain.started' });
    expect(await made.checkpoint({ dryRun: false })).toMatchObject({ rows: { after: rowsIn(store) } });
    expect(rowsIn(store)).toBeGreaterThan(1_000);
    root.send({ type: 'drain.ended' });
    made.look();
    await goOn(100);
    expect(store.retentions.newest(9)).toHaveLength(1);
  });
});
