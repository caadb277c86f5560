/** RET-01: when the daemon shortens its journal by itself. */
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
import { History } from '../persistence/support/history.ts';
import { newStore } from '../persistence/support/temporaryStore.ts';

async function lane() {
  const past = new History(newStore());
  const { store, host } = past;
  const places = placesOf({ stateDir: store.stateDir, env: { HOME: store.stateDir } });
  const env = { CUSTODY_JOURNAL_ROWS: '1000', CUSTODY_JOURNAL_AGE_HOURS: '0', CUSTODY_CHECKPOINT_ROWS: '100' };
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
