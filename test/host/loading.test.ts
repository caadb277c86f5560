import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import type { HostedDefinition } from '../../actors/host/protocol.ts';
import { structuralHash } from '../../machines/structuralHash.ts';
import type { Store } from '../../persistence/store.ts';
import { newStore } from '../persistence/support/temporaryStore.ts';
import { fixtureProtocol } from './support/fixtureProtocol.ts';
import { add, contentOf, draft, openLedger, submitOne, testHost, totalOf } from './support/testHost.ts';

const ledger = fixtureProtocol.definitions.goal as HostedDefinition;
const definedAs = (definition: Partial<HostedDefinition>) => ({
  ...fixtureProtocol.definitions,
  goal: { ...ledger, ...definition } as HostedDefinition,
});

/** A store that an earlier program has written: one open ledger with a total of 5, owned by A. */
async function written(version = 1): Promise<Store> {
  const { host, store } = testHost({ store: newStore(), definitions: definedAs({ version }) });
  await openLedger(host, 'L1', 'A');
  await submitOne(host, add('L1', 5, 'e1'));
  await host.close();
  return store;
}

describe('JRN-02: the snapshot is the state of record', () => {
  it('goes on from the row, also when the journal is gone', async () => {
    const store = await written();
    store.write(() => expect(store.journal.lastPosition()).toBe(2));
    const { host } = testHost({ store });
    expect(host.snapshotOf('goal', 'L1')?.matches({ book: 'open' })).toBe(true);
    expect(await submitOne(host, add('L1', 1))).toMatchObject({ outcome: 'changed', version: 3 });
    expect(totalOf(host)).toBe(6);
    expect(await submitOne(host, add('L1', 5, 'e1'))).toMatchObject({ outcome: 'duplicate', version: 2 });
  });

  it('keeps memory bounded: actors that were used long ago are read again', async () => {
    const { host } = testHost({ limits: { cachedSnapshots: 2, cachedActors: 2 } });
    const ids = Array.from({ length: 10 }, (_, n) => `L${n}`);
    for (const id of ids) await openLedger(host, id);
    await host.submit(ids.map((id, n) => add(id, n)));
    expect(ids.map((id) => totalOf(host, id))).toEqual(ids.map((_, n) => n));
  });
});

describe('JRN-09, ruling 29: rows of other definitions', () => {
  it.each([
    {
      what: 'another chart under the same version',
      definition: { structuralHash: 'f'.repeat(64) },
      reason: 'definition_changed',
    },
    {
      what: 'an older version that nothing leads away from',
      definition: { version: 3, upcasters: { 2: (row) => row } },
      reason: 'definition_older',
    },
    { what: 'a newer version', wrote: 2, definition: {}, reason: 'definition_newer' },
  ] as Array<{ what: string; wrote?: number; definition: Partial<HostedDefinition>; reason: string }>)(
    'refuses $what and leaves the row as it is',
    async ({ wrote, definition, reason }) => {
      const store = await written(wrote);
      const before = contentOf(store);
      const { host } = testHost({ store, definitions: definedAs(definition) });
      expect(await submitOne(host, add('L1', 1))).toMatchObject({ outcome: 'rejected', reason, version: 0 });
      expect(() => host.snapshotOf('goal', 'L1')).toThrow(expect.objectContaining({ code: reason, exitCode: 9 }));
      expect(() => host.actor('goal', 'L1')).toThrow(expect.objectContaining({ code: reason }));
      expect(contentOf(store)).toEqual(before);
      expect(await openLedger(host, 'L2')).toMatchObject({ outcome: 'changed' });
    },
  );

  it('refuses a state that the chart no longer has', async () => {
    const store = await written();
    const machine = setup({}).createMachine({ id: 'ledger', initial: 'elsewhere', states: { elsewhere: {} } });
    const hash = ledger.structuralHash;
    const { host } = testHost({ store, definitions: definedAs({ machine, structuralHash: hash }) });
    expect(await submitOne(host, add('L1', 1))).toMatchObject({ outcome: 'rejected', reason: 'definition_changed' });
  });

  it('brings older rows up step by step, and writes them back in the new version', async () => {
    const store = await written();
    const steps: number[] = [];
    const definition: Partial<HostedDefinition> = {
      version: 3,
      structuralHash: `${structuralHash(ledger.machine).slice(0, 63)}0`,
      upcasters: {
        1: (row) => {
          steps.push(1);
          return { ...row, context: { ...row.context, total: Number(row.context.total) * 100 } };
        },
        2: (row) => {
          steps.push(2);
          return { ...row, context: { ...row.context, total: Number(row.context.total) + 1 } };
        },
      },
      links: ({ context }) => ({ keeper: context.owner }),
    };
    const { host } = testHost({ store, definitions: definedAs(definition) });
    expect(totalOf(host)).toBe(501);
    expect(store.actors.read({ kind: 'goal', id: 'L1' })).toMatchObject({ definitionVersion: 1, version: 2 });
    expect(await submitOne(host, add('L1', 5, 'e1'))).toMatchObject({ outcome: 'duplicate' });
    expect(await submitOne(host, add('L1', 1, 'e2'))).toMatchObject({ outcome: 'changed', version: 3 });
    expect(steps).toEqual([1, 2]);
    expect(store.actors.read({ kind: 'goal', id: 'L1' })).toMatchObject({ definitionVersion: 3, version: 3 });
    expect([host.linked('goal', 'owner', 'A'), host.linked('goal', 'keeper', 'A')]).toEqual([[], ['L1']]);
    await host.close();
    const again = testHost({ store, definitions: definedAs(definition) });
    expect(totalOf(again.host)).toBe(502);
    expect(steps).toEqual([1, 2]);
  });
});

describe('ruling 27: a damaged row fails closed for its actor', () => {
  it('refuses that actor by name, also for repeats and façades, and serves the others', async () => {
    const store = await written();
    const { host: writer } = testHost({ store });
    await openLedger(writer, 'L2');
    await writer.close();
    damage(store, '"total":5', '"total":4');
    const { host } = testHost({ store });
    expect(await submitOne(host, add('L1', 5, 'e1'))).toMatchObject({ outcome: 'rejected', reason: 'actor_corrupt' });
    expect(() => host.actor('goal', 'L1')).toThrow(expect.objectContaining({ code: 'actor_corrupt', exitCode: 9 }));
    const outcomes = await host.submit([add('L2', 1), add('L1', 1)]);
    expect(outcomes.map(({ reason }) => reason)).toEqual(['call_rolled_back', 'actor_corrupt']);
    expect(await submitOne(host, add('L2', 1))).toMatchObject({ outcome: 'changed' });
  });
});

describe('actors that are looked for together', () => {
  it('are read in one statement, and are as they would be one by one', async () => {
    const store = await written();
    const { host: writer } = testHost({ store });
    for (const id of ['L2', 'L3']) await openLedger(writer, id);
    await writer.close();
    damage(store, '"total":5', '"total":4');
    const read: string[] = [];
    const actors: Store['actors'] = {
      ...store.actors,
      read(address) {
        read.push(address.id);
        return store.actors.read(address);
      },
    };
    const { host } = testHost({ store: { ...store, actors } });
    host.preload('goal', ['L1', 'L2', 'L2', 'L3', 'L9']);
    expect(['L2', 'L3', 'L9'].map((id) => host.snapshotOf('goal', id)?.context.total)).toEqual([0, 0, undefined]);
    expect(await submitOne(host, add('L9', 1))).toMatchObject({ outcome: 'rejected', reason: 'unknown_actor' });
    expect(read).toEqual([]);
    expect(() => host.snapshotOf('goal', 'L1')).toThrow(expect.objectContaining({ code: 'actor_corrupt' }));
    await openLedger(host, 'L9');
    expect(host.snapshotOf('goal', 'L9')?.context.total).toBe(0);
  });

  it('are not there only as long as nobody else has written them', async () => {
    const store = newStore();
    const { host, faults } = testHost({ store });
    expect(host.snapshotOf('goal', 'L1')).toBeUndefined();
    const { host: other } = testHost({ store });
    await openLedger(other, 'L1', 'A');
    const before = contentOf(store);
    expect(await openLedger(host, 'L1', 'B')).toMatchObject({ outcome: 'rejected', reason: 'version_conflict' });
    expect(contentOf(store)).toEqual(before);
    expect(host.snapshotOf('goal', 'L1')?.context.owner).toBe('A');
    expect(await submitOne(host, add('L1', 1))).toMatchObject({ outcome: 'changed', version: 2 });
    expect(faults).toEqual([]);
  });

  it('get keys of their own, also after a call that made the first of its kind was taken back', async () => {
    const { host, store } = testHost();
    const [taken, kept, next] = await Promise.all([
      host.submit([opened('L1'), add('L1', 5, 'e1'), add('L8', 1)]),
      host.submit([opened('L2')]),
      host.submit([opened('L3')]),
    ]);
    expect(taken.map(({ outcome }) => outcome)).toEqual(['rejected', 'rejected', 'rejected']);
    expect([...kept, ...next].map(({ outcome }) => outcome)).toEqual(['changed', 'changed']);
    expect(store.actors.list('goal').map(({ key, id }) => [key, id])).toEqual([
      [1, 'L2'],
      [2, 'L3'],
    ]);
    expect(await store.check()).toMatchObject({ ok: true });
  });
});

const opened = (ledgerId: string) => draft('ledger.opened', ledgerId, { ledgerId });

/** Changes a snapshot without its digest: what a flipped bit does. */
function damage(store: Store, from: string, to: string): void {
  const editor = new Database(join(store.stateDir, 'custody.db'));
  editor.prepare("UPDATE actors SET snapshot = replace(snapshot, ?, ?) WHERE id = 'L1'").run(from, to);
  editor.close();
}
