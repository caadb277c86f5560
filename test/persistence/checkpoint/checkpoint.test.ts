import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { rowsIn } from '../../../persistence/checkpoint/checkpoint.ts';
import type { Store } from '../../../persistence/store.ts';
import { add, draft, openLedger, submitOne, testHost, withId } from '../../host/support/testHost.ts';
import { checkpointed, checkpointOf, citedIn, everyEvent, everySnapshot, later } from '../support/checkpointing.ts';
import { History, idOf } from '../support/history.ts';
import { newStore, opened } from '../support/temporaryStore.ts';

function history(store: Store = newStore()): History {
  const made = new History(store);
  onTestFinished(() => made.host.close());
  return made;
}

const scope = (n: number) => ({ kind: 'executionScope', id: idOf('S', n) });
const typesOf = (store: Store, n: number) => everyEvent(store, scope(n)).map(({ type }) => type);

describe('RET-02: what a checkpoint keeps', () => {
  it('of a scope that is over its beginning, its receipts and its newest events', async () => {
    const past = history();
    await past.live(1, { observations: 40 });
    const report = checkpointed(past.store);
    expect(typesOf(past.store, 1)).toEqual(['scope.requested', 'workload.statusReceipt', 'guardian.exitReceipt']);
    expect(report).toMatchObject({ dryRun: false, removed: { events: 43 }, rows: { before: 49, after: 6 } });
    expect(rowsIn(past.store)).toBe(everyEvent(past.store).length);
  });

  it('the event that ended it and the one that its snapshot cites, whatever was said afterwards', async () => {
    const { host, store } = testHost();
    await openLedger(host);
    for (let n = 1; n <= 9; n += 1) await submitOne(host, add('L1', n, `e${n}`));
    await submitOne(host, withId('closing', draft('ledger.closed', 'L1')));
    await submitOne(host, withId('audited', draft('ledger.audited', 'L1')));
    for (let n = 1; n <= 5; n += 1) await submitOne(host, withId(`n${n}`, draft('ledger.noted', 'L1')));
    const rules = { newestEvents: 1, cutoffWallMs: later };
    const { kept } = checkpointed(store, { rules });
    const left = everyEvent(store).map(({ eventId }) => eventId.split(':').at(-1));
    expect(left).toEqual(['L1', 'e9', 'audited', 'n5']);
    expect(kept).toEqual({ first: 1, cited: 1, end: 1, newest: 1 });
    expect(await store.check()).toMatchObject({ ok: true });
  });

  it('what somebody looks for when it is over: here the first order to end it, and not its repeat', async () => {
    const past = history();
    await past.live(1, { ends: false });
    await past.submit([past.drain(1, 'q1'), past.drain(1, 'q2'), ...past.observations(1, 9), ...past.end(1)]);
    checkpointed(past.store, { rules: { newestEvents: 1, cutoffWallMs: later } });
    expect(typesOf(past.store, 1)).toEqual([
      'scope.requested',
      'drain.requested',
      'workload.statusReceipt',
      'guardian.exitReceipt',
    ]);
    const [order] = past.store.journal.page({ actor: scope(1), type: 'drain.requested' });
    expect(order).toMatchObject({ envelope: { payload: { requestId: 'q1' } } });
  });

  it('the bytes of the receipts, and every event that any snapshot cites (RUN-03, REPL-08)', async () => {
    const past = history();
    for (let n = 1; n <= 30; n += 1) await past.live(n, { observations: 10, ends: n % 7 !== 0 });
    const before = new Set(everyEvent(past.store).map(({ eventId }) => eventId));
    const cited = citedIn(past.store, before);
    expect(cited.size).toBeGreaterThan(50);
    checkpointed(past.store);
    const after = new Set(everyEvent(past.store).map(({ eventId }) => eventId));
    expect(after.size).toBeLessThan(before.size / 2);
    expect([...cited].filter((eventId) => !after.has(eventId))).toEqual([]);
    const run = JSON.parse(past.store.actors.read({ kind: 'run', id: idOf('R', 1) })!.snapshot);
    expect(everyEvent(past.store).filter(({ eventId }) => eventId === run.context.end.eventId)).toHaveLength(2);
    const [receipt] = past.store.journal.page({ actor: scope(1), type: 'guardian.exitReceipt' });
    expect(receipt).toMatchObject({ envelope: { payload: { receiptText: `{"receipt":"of ${idOf('S', 1)}"}` } } });
  });

  it('everything of what is live, and of what it depends on', async () => {
    const past = history();
    await past.live(1, { observations: 20 });
    await past.live(2, { observations: 20, ends: false, parentScopeId: idOf('S', 1) });
    await past.live(3, { observations: 20 });
    const untouched = [1, 2].map((n) => typesOf(past.store, n));
    const report = checkpointed(past.store);
    expect([1, 2].map((n) => typesOf(past.store, n))).toEqual(untouched);
    expect(typesOf(past.store, 3)).toHaveLength(3);
    expect(report.kept).toMatchObject({ needed: 29, not_over: 26 });
    await past.submit(past.end(2));
    checkpointed(past.store);
    expect([1, 2].map((n) => typesOf(past.store, n).length)).toEqual([3, 3]);
  });

  it('what is younger than the age, and rows without a time', async () => {
    const past = history();
    await past.live(1, { observations: 10 });
    const rules = { newestEvents: 1, cutoffWallMs: 0 };
    expect(checkpointed(past.store, { rules })).toMatchObject({ removed: { events: 0 } });
    expect(checkpointed(past.store, { rules: { ...rules, cutoffWallMs: later } }).removed.events).toBeGreaterThan(10);
  });

  it('everything of an actor whose record is damaged, and of one whose end nobody has recorded', async () => {
    const past = history();
    for (const n of [1, 2, 3]) await past.live(n, { observations: 10 });
    const { stateDir } = past.store;
    await past.host.close();
    past.store.close();
    const editor = new Database(`${stateDir}/custody.db`);
    editor.exec(
      `UPDATE actors SET snapshot = replace(snapshot, 'exitedProved', 'exitedproved') WHERE id = '${idOf('S', 1)}'`,
    );
    editor.exec(`DELETE FROM endings WHERE actor = (SELECT actor FROM actors WHERE id = '${idOf('S', 2)}')`);
    editor.close();
    const store = opened({ stateDir, create: false });
    expect(checkpointed(store).kept).toMatchObject({ damaged: 16 });
    expect([1, 2, 3].map((n) => typesOf(store, n).length)).toEqual([16, 16, 3]);
  });

  it('keeps a damaged row, so that doctor goes on naming it', async () => {
    const past = history();
    await past.live(1, { observations: 10 });
    const { stateDir } = past.store;
    await past.host.close();
    past.store.close();
    const editor = new Database(`${stateDir}/custody.db`);
    editor.exec('UPDATE journal SET version = 77 WHERE position = 8');
    editor.close();
    const store = opened({ stateDir, create: false });
    expect(checkpointed(store).kept).toMatchObject({ damaged: 1 });
    expect((await store.check()).problems).toContainEqual({ table: 'journal', where: '8', problem: 'digest_mismatch' });
  });
});

describe('JRN-02, RET-01: after a checkpoint', () => {
  it('a restart finds the same snapshots, the full check passes, and positions go on', async () => {
    const past = history();
    for (let n = 1; n <= 10; n += 1) await past.live(n, { observations: 10 });
    const before = everySnapshot(past.store);
    const position = past.store.journal.lastPosition();
    checkpointed(past.store);
    await past.host.close();
    past.store.close();
    const again = history(opened({ stateDir: past.store.stateDir, create: false }));
    expect(everySnapshot(again.store)).toEqual(before);
    expect(await again.store.check()).toMatchObject({ ok: true, checked: { actors: 20 } });
    await again.live(11);
    expect(everyEvent(again.store).at(-1)?.position).toBe(position + 9);
    expect(await again.store.check()).toMatchObject({ ok: true });
  });

  it('a row that is missing without a checkpoint is still noticed', async () => {
    const past = history();
    await past.live(1, { observations: 10 });
    await past.live(2, { ends: false });
    checkpointed(past.store);
    const { stateDir } = past.store;
    await past.host.close();
    past.store.close();
    const editor = new Database(`${stateDir}/custody.db`);
    editor.exec("DELETE FROM journal WHERE type = 'launch.prepared'");
    editor.close();
    const { problems } = await opened({ stateDir, create: false }).check();
    expect(problems).toEqual([expect.objectContaining({ table: 'dedup', problem: 'not_in_journal' })]);
  });

  it('a second one finds nothing more, and both are on record', async () => {
    const past = history();
    await past.live(1, { observations: 10 });
    const first = checkpointed(past.store);
    expect(checkpointed(past.store)).toMatchObject({ removed: { events: 0 } });
    expect(past.store.retentions.newest(9)).toMatchObject([
      { what: 'checkpoint', report: { removed: { events: 0 } } },
      { what: 'checkpoint', wallMs: later, report: { removed: first.removed, range: [3, 16] } },
    ]);
  });

  it('a dry run counts the same and removes nothing', async () => {
    const past = history();
    for (let n = 1; n <= 5; n += 1) await past.live(n, { observations: 30, ends: n < 5 });
    const before = everyEvent(past.store);
    const counted = checkpointed(past.store, { dryRun: true });
    expect(everyEvent(past.store)).toEqual(before);
    expect(past.store.retentions.newest(9)).toEqual([]);
    const done = checkpointed(past.store);
    expect({ ...counted, steps: 0, dryRun: false }).toEqual({ ...done, steps: 0 });
  });

  it('the file of a new store becomes smaller', async () => {
    const past = history();
    for (let n = 1; n <= 20; n += 1) await past.live(n, { observations: 190 });
    const before = past.store.space.measure();
    checkpointed(past.store);
    const after = past.store.space.measure();
    expect(before.shrinks).toBe(true);
    expect(after.freeBytes).toBe(0);
    expect(after.bytes).toBeLessThan(before.bytes * 0.7);
  });

  it('finished effects of what is over are gone, open ones stay', async () => {
    const past = history();
    await past.live(1);
    await past.live(2, { ends: false });
    const rows = past.store.outbox.open({ position: 0, ordinal: -1 }, 100);
    past.store.write(() => {
      for (const { effectId } of rows.slice(1)) past.store.outbox.finish(effectId, 'done');
    });
    const ofOver = rows.slice(1).filter(({ actor }) => actor.id === idOf('S', 1));
    expect(checkpointed(past.store).removed.effects).toBe(ofOver.length);
    expect(ofOver.map(({ effectId }) => past.store.outbox.find(effectId))).toEqual(ofOver.map(() => undefined));
    expect(past.store.outbox.find(rows[0]!.effectId)).toBeDefined();
    expect(past.store.outbox.find(rows.at(-1)!.effectId)).toMatchObject({ state: 'done' });
  });
});

describe('RET-01: bounded steps', () => {
  it('no step looks at more rows than it may', async () => {
    const past = history();
    for (let n = 1; n <= 20; n += 1) await past.live(n, { observations: 25 });
    const checkpoint = checkpointOf(past.store, { bounds: { rows: 7, ms: 1_000 } });
    let rows = rowsIn(past.store);
    let steps = 0;
    while (checkpoint.step()) {
      expect(rows - rowsIn(past.store)).toBeLessThanOrEqual(7);
      rows = rowsIn(past.store);
      steps += 1;
    }
    expect(steps).toBeGreaterThan(80);
    expect(checkpoint.report()).toMatchObject(checkpointedLike(past.store));
  });

  it('a step that has used up its time looks at one row, and still gets on', async () => {
    const past = history();
    await past.live(1, { observations: 10 });
    let now = 0;
    const monoMs = () => {
      now += 10;
      return now;
    };
    const checkpoint = checkpointOf(past.store, { monoMs, bounds: { rows: 100, ms: 1 } });
    let rows = rowsIn(past.store);
    while (checkpoint.step()) {
      expect(rows - rowsIn(past.store)).toBeLessThanOrEqual(1);
      rows = rowsIn(past.store);
    }
    expect(typesOf(past.store, 1)).toHaveLength(3);
  });

  it('a submitted event waits for one step at most', async () => {
    const past = history();
    for (let n = 1; n <= 20; n += 1) await past.live(n, { observations: 25 });
    const checkpoint = checkpointOf(past.store, { bounds: { rows: 10, ms: 1_000 } });
    let steps = 0;
    let isOver = false;
    const stepping = (async () => {
      while (checkpoint.step()) {
        steps += 1;
        await new Promise((resolve) => setImmediate(resolve));
      }
      isOver = true;
    })();
    let during = 0;
    for (let n = 100; n < 125; n += 1) {
      const before = steps;
      await past.live(n);
      expect(steps - before).toBeLessThanOrEqual(1);
      if (!isOver) during += 1;
    }
    await stepping;
    expect(during).toBeGreaterThan(20);
    expect(await past.store.check()).toMatchObject({ ok: true });
  });

  it('what is launched while it goes on is as safe as what lived before', async () => {
    const past = history();
    for (let n = 1; n <= 10; n += 1) await past.live(n, { observations: 20 });
    const checkpoint = checkpointOf(past.store, { bounds: { rows: 5, ms: 1_000 } });
    // All snapshots have been read; none of them names a child of scope 10.
    for (let n = 0; n < 3; n += 1) checkpoint.step();
    await past.live(50, { ends: false, parentScopeId: idOf('S', 10) });
    while (checkpoint.step());
    expect(typesOf(past.store, 10)).toHaveLength(26);
    expect(typesOf(past.store, 9)).toHaveLength(3);
  });
});

/** What a report of a finished checkpoint has to say of this store. */
function checkpointedLike(store: Store) {
  return { rows: { after: everyEvent(store).length } };
}
