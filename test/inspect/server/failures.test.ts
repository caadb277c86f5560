/** What fails while somebody looks is written to the log, and the daemon and the others go on. */
import { describe, expect, it } from 'vitest';
import { draft } from '../../../actors/runtime/submission.ts';
import { Histories } from '../../../inspect/server/actors/history.ts';
import type { FleetAnswer } from '../../../inspect/server/contract.ts';
import { Fleet } from '../../../inspect/server/fleet/fleet.ts';
import { eventually } from '../../support/eventually.ts';
import { hosted } from './support/hosted.ts';
import { openUpdates } from './support/stream.ts';

function collected() {
  const failures: unknown[] = [];
  return { failures, log: { error: (failure: unknown) => void failures.push(failure) } as never };
}

/** A store that fails as one does whose disk cannot be read. */
const failing = (): never => {
  throw new Error('disk I/O error');
};

describe('what fails in the inspector', () => {
  it('is logged when the fleet cannot be read in', async () => {
    const { open, store, addGoals } = hosted();
    await addGoals(0, 1);
    const { failures, log } = collected();
    const actors = new Proxy(store.actors, {
      get: (of, name) => (name === 'inspect' ? failing : Reflect.get(of, name)),
    });
    const broken = new Proxy(store, { get: (of, name) => (name === 'actors' ? actors : Reflect.get(of, name)) });
    const page = await open({ daemon: { store: broken, log } });
    await eventually('the failure', () => failures[0]);
    expect(failures).toMatchObject([{ stack: expect.stringContaining('disk I/O error') }]);
    expect(await page.get<FleetAnswer>('/api/fleet')).toMatchObject({ complete: false });
  });

  it('is logged when a timer runs into it, and the next look is taken all the same', async () => {
    const { open, addGoals, idOf } = hosted();
    const { failures, log } = collected();
    const page = await open({ daemon: { log, admission: failing } });
    const updates = await openUpdates(page);
    await eventually('the failure', () => failures[0]);
    await addGoals(0, 1);
    await updates.until((told) => told.type === 'committed' && told.actors.some(({ id }) => id === idOf(0)));
  });
});

describe('what is kept', () => {
  it('is not a replay that failed', async () => {
    const { store, host, addGoals, idOf } = hosted();
    await addGoals(0, 1);
    let isBroken = true;
    const journal = new Proxy(store.journal, {
      get: (of, name) => (name === 'rowsOf' && isBroken ? failing : Reflect.get(of, name)),
    });
    const headOf = () => ({ version: 1, snapshot: host.snapshotOf('goal', idOf(0))! });
    const histories = new Histories({ store: { actors: store.actors, journal }, headOf });
    await expect(histories.of('goal', idOf(0))).rejects.toThrow('disk I/O error');
    isBroken = false;
    expect((await histories.of('goal', idOf(0)))?.moments).toHaveLength(1);
  });

  it('is no more than a number of lines, those that are over being left out', async () => {
    const { store, host, addGoals, idOf } = hosted();
    const fleet = new Fleet(store, 100);
    await fleet.ready;
    const records = new Map<string, Parameters<Fleet['take']>[0]>();
    host.onCommit((committed) => {
      for (const record of committed) records.set(record.actor.id, record);
    });
    await addGoals(0, 1_102);
    const cancelled = (number: number) =>
      draft('goal.cancelled', {
        to: ['goal', idOf(number)],
        payload: { requestId: `C${number}`, actor: 'test', reason: 'given up' } as never,
        by: 'test',
      });
    // The very first lives on.
    for (let at = 1; at < 1_102; at += 100)
      await host.submit(Array.from({ length: Math.min(100, 1_102 - at) }, (_, n) => cancelled(at + n)));
    for (const record of records.values()) fleet.take(record);
    expect({ shown: [...fleet.rows].length, omitted: fleet.omitted }).toEqual({ shown: 101, omitted: 1_001 });
    expect(fleet.row('goal', idOf(0))).toMatchObject({ status: 'active' });
    expect(fleet.row('goal', idOf(1))).toBeUndefined();
    expect(fleet.row('goal', idOf(1_101))).toMatchObject({ status: 'released' });
  });
});
