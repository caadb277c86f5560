import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommitRecord } from '../../actors/host/outcome.ts';
import { StoreError } from '../../persistence/errors.ts';
import { assertNoTransaction } from '../../persistence/transaction.ts';
import { bundled, node } from '../persistence/support/children.ts';
import { newStore } from '../persistence/support/temporaryStore.ts';
import { add, contentOf, draft, openLedger, submitOne, testHost, totalOf } from './support/testHost.ts';

const foreignWriter = bundled('test/host/fixtures/foreignWriter.ts', 'foreignWriter');
const holder = bundled('test/persistence/fixtures/holder.ts', 'batchingHolder');

/** Counts transactions, and can make the next COMMIT fail like a full disk does. */
function watchedStore() {
  const store = newStore();
  const state = { transactions: 0, failAt: 'nowhere' as 'nowhere' | 'before_commit' | 'after_commit' };
  const write: typeof store.write = (work) => {
    state.transactions += 1;
    const failing = state.failAt;
    state.failAt = 'nowhere';
    const result = store.write(() => {
      const value = work();
      if (failing === 'before_commit') throw new StoreError('store_full', 'no space left');
      return value;
    });
    // A COMMIT whose sync fails may have reached the disk all the same.
    if (failing === 'after_commit') throw new StoreError('store_io', 'fsync failed');
    return result;
  };
  return { store: { ...store, write }, state };
}

describe('ruling 31: group commit', () => {
  it('writes at once what comes alone, and together what comes together', async () => {
    const { store, state } = watchedStore();
    const { host } = testHost({ store });
    await openLedger(host);
    expect(state.transactions).toBe(1);
    await submitOne(host, add('L1', 1));
    await submitOne(host, add('L1', 1));
    expect(state.transactions).toBe(3);
    await Promise.all(Array.from({ length: 50 }, () => submitOne(host, add('L1', 1))));
    expect(state.transactions).toBe(4);
    expect(totalOf(host)).toBe(52);
  });

  it('writes in the turn of the event loop in which it was submitted, without a timer', async () => {
    const { host } = testHost();
    await openLedger(host);
    const order: string[] = [];
    const submitted = submitOne(host, add('L1', 1)).then(() => order.push('answer'));
    // A timer would come later than this; one of 0 ms may come sooner on a machine that is late itself.
    setImmediate(() => setImmediate(() => order.push('second turn')));
    await submitted;
    expect(order[0]).toBe('answer');
  });

  it('puts at most 256 events into a transaction, and never splits a call', async () => {
    const { store, state } = watchedStore();
    const { host } = testHost({ store });
    await openLedger(host);
    const sizes: number[] = [];
    host.onCommit((records) => sizes.push(records.length));
    const call = (events: number) => host.submit(Array.from({ length: events }, () => add('L1', 1)));
    await Promise.all([call(200), call(56), call(1), call(256), call(255), call(2)]);
    expect(sizes).toEqual([256, 1, 256, 255, 2]);
    expect(state.transactions).toBe(6);
  });

  it('keeps the order of submission, within an actor and between calls', async () => {
    const { host } = testHost({ limits: { batchEvents: 4 } });
    await openLedger(host);
    const records: CommitRecord[] = [];
    host.onCommit((committed) => records.push(...committed));
    const ids = Array.from({ length: 30 }, (_, n) => `e${n}`);
    await Promise.all(ids.map((id) => submitOne(host, add('L1', 1, id))));
    expect(records.map(({ envelope }) => envelope.eventId)).toEqual(ids);
    expect(records.map(({ position }) => position)).toEqual(ids.map((_, n) => n + 2));
  });

  it('bounds what may wait', async () => {
    const { host } = testHost({ limits: { waitingCalls: 2 } });
    const answers = await Promise.allSettled([openLedger(host), openLedger(host), openLedger(host)]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(answers[2]).toMatchObject({ reason: { code: 'host_busy', exitCode: 10 } });
  });

  it('finishes what was submitted before it closes, and takes nothing after that', async () => {
    const { host } = testHost();
    const last = openLedger(host);
    await host.close();
    expect(await last).toMatchObject({ outcome: 'changed' });
    await expect(submitOne(host, add('L1', 1))).rejects.toMatchObject({ code: 'host_closed' });
  });
});

describe('FAULT-08, JRN-01: when the commit fails nothing has happened', () => {
  it('fails every call of the transaction by name, and starts again from the disk', async () => {
    const { store, state } = watchedStore();
    const { host } = testHost({ store });
    await openLedger(host);
    const before = contentOf(store);
    const heard: unknown[] = [];
    host.onCommit((records) => heard.push(records));
    const seen: unknown[] = [];
    host.actor('goal', 'L1').subscribe(({ context }) => seen.push(context.total));
    state.failAt = 'before_commit';
    const answers = await Promise.allSettled([
      submitOne(host, add('L1', 5, 'e1')),
      submitOne(host, add('L1', 6, 'e2')),
    ]);
    expect(answers).toMatchObject([
      { status: 'rejected', reason: { code: 'store_full', exitCode: 10 } },
      { status: 'rejected', reason: { code: 'store_full' } },
    ]);
    expect(contentOf(store)).toEqual(before);
    expect([heard, seen, totalOf(host)]).toEqual([[], [], 0]);
    expect(host.actor('goal', 'L1').getSnapshot().context.total).toBe(0);
    expect(await submitOne(host, add('L1', 5, 'e1'))).toMatchObject({ outcome: 'changed', version: 2, position: 2 });
    expect(seen).toEqual([5]);
  });

  it('forgets what it believed: a commit that failed may have reached the disk', async () => {
    const { store, state } = watchedStore();
    const { host } = testHost({ store });
    await openLedger(host);
    state.failAt = 'after_commit';
    await expect(submitOne(host, add('L1', 5, 'e1'))).rejects.toMatchObject({ code: 'store_io' });
    expect(totalOf(host)).toBe(5);
    expect(await submitOne(host, add('L1', 5, 'e1'))).toMatchObject({
      outcome: 'duplicate',
      stored: 'changed',
      version: 2,
    });
    expect(await submitOne(host, add('L1', 1, 'e2'))).toMatchObject({ outcome: 'changed', version: 3 });
  });

  it('CONC-01: defers when another process holds the database', async () => {
    const { host, store } = testHost();
    await openLedger(host);
    const other = node(holder, join(store.stateDir, 'custody.db'));
    await other.nextLine();
    await expect(submitOne(host, add('L1', 5, 'e1'))).rejects.toMatchObject({
      code: 'store_busy',
      exitCode: 10,
      retryable: true,
    });
    other.process.stdin?.end();
    await other.ended;
    expect(await submitOne(host, add('L1', 5, 'e1'))).toMatchObject({ outcome: 'changed', version: 2 });
  });
});

describe('FAULT-04, JRN-06: two writers on one version', () => {
  it('lets one win; the other is told, and its retry works on what is there', async () => {
    const { host, store } = testHost();
    await openLedger(host);
    await submitOne(host, add('L1', 5, 'e1'));
    const foreign = node(foreignWriter, join(store.stateDir, 'custody.db'), 'L1');
    expect(await foreign.nextLine()).toBe('written');
    await foreign.ended;
    const before = contentOf(store);
    expect(await submitOne(host, add('L1', 1, 'e2'))).toMatchObject({
      outcome: 'rejected',
      reason: 'version_conflict',
    });
    expect(contentOf(store)).toEqual(before);
    expect(await submitOne(host, add('L1', 1, 'e2'))).toMatchObject({ outcome: 'changed', version: 4 });
    expect(totalOf(host)).toBe(51);
  });
});

describe('publishing', () => {
  it('K2: tells listeners after the commit, outside the transaction, with before and after', async () => {
    const { host, store } = testHost();
    const heard: unknown[] = [];
    const stop = host.onCommit((records) => {
      assertNoTransaction('a listener');
      const { position, actor, outcome, version, before, after, envelope } = records[0] as CommitRecord;
      expect(store.journal.lastPosition()).toBeGreaterThanOrEqual(position);
      heard.push([position, actor.id, outcome, version, before?.context.total, after.context.total, envelope.type]);
    });
    await openLedger(host);
    await submitOne(host, add('L1', 5));
    await submitOne(host, draft('ledger.noted', 'L1'));
    await submitOne(host, add('L1', 500));
    stop();
    await submitOne(host, add('L1', 1));
    expect(heard).toEqual([
      [1, 'L1', 'changed', 1, undefined, 0, 'ledger.opened'],
      [2, 'L1', 'changed', 2, 0, 5, 'ledger.added'],
      [3, 'L1', 'noop', 2, 5, 5, 'ledger.noted'],
    ]);
  });

  it('survives a listener that throws', async () => {
    const { host, faults } = testHost();
    host.onCommit(() => {
      throw new Error('listener bug');
    });
    const heard: number[] = [];
    host.onCommit((records) => heard.push(records.length));
    await openLedger(host);
    expect(faults).toMatchObject([{ code: 'listener_threw' }]);
    expect(heard).toEqual([1]);
  });

  it('lets a listener submit', async () => {
    const { host } = testHost();
    const answered: Promise<unknown>[] = [];
    host.onCommit((records) => {
      if (records[0]?.envelope.type === 'ledger.opened') answered.push(submitOne(host, add('L1', 5)));
    });
    await openLedger(host);
    await Promise.all(answered);
    expect(totalOf(host)).toBe(5);
  });
});
