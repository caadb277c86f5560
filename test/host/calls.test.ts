import { describe, expect, it } from 'vitest';
import { fixtureProtocol } from './support/fixtureProtocol.ts';
import { add, contentOf, draft, openLedger, submitOne, testHost, totalOf, withId } from './support/testHost.ts';

describe('ruling 3: one call is all or nothing', () => {
  it('rolls back what the call did before its rejected event, and says so for each', async () => {
    const { host, store } = testHost();
    await openLedger(host, 'L1');
    await submitOne(host, add('L1', 1, 'known'));
    const before = contentOf(store);
    const outcomes = await host.submit([
      add('L1', 1, 'known'),
      draft('ledger.opened', 'L2', { ledgerId: 'L2' }),
      add('L1', 5, 'e1'),
      withId('x', draft('ledger.launched', 'L1', { amount: 1 })),
      add('L1', 500, 'big'),
      add('L1', 6, 'never'),
    ]);
    expect(outcomes.map(({ outcome, reason, version }) => [outcome, reason, version])).toEqual([
      ['duplicate', undefined, 2],
      ['rejected', 'call_rolled_back', 0],
      ['rejected', 'call_rolled_back', 2],
      ['rejected', 'call_rolled_back', 2],
      ['rejected', 'guard_refused', 4],
      ['rejected', 'call_rolled_back', 2],
    ]);
    expect(contentOf(store)).toEqual(before);
    expect(totalOf(host)).toBe(1);
    expect(host.snapshotOf('goal', 'L2')).toBeUndefined();
    expect(store.rejections.newest().map(({ eventId, reason }) => [eventId, reason])).toEqual([
      ['big', 'guard_refused'],
    ]);
  });

  it('frees the event ids and positions of a rolled back call', async () => {
    const { host } = testHost();
    await openLedger(host);
    await host.submit([add('L1', 5, 'e1'), add('L1', 500)]);
    expect(await submitOne(host, add('L1', 6, 'e1'))).toMatchObject({ outcome: 'changed', version: 2, position: 2 });
  });

  it('leaves the calls that share its transaction alone', async () => {
    const { host, store } = testHost();
    await openLedger(host);
    const calls = await Promise.all([
      host.submit([add('L1', 1, 'a1'), add('L1', 2, 'a2')]),
      host.submit([add('L1', 10, 'b1'), add('L1', 500, 'b2')]),
      host.submit([add('L1', 4, 'c1')]),
    ]);
    expect(calls.map((outcomes) => outcomes.map(({ outcome }) => outcome))).toEqual([
      ['changed', 'changed'],
      ['rejected', 'rejected'],
      ['changed'],
    ]);
    expect(totalOf(host)).toBe(7);
    expect(store.journal.page().map((entry) => entry.intact && entry.eventId.split(':').at(-1))).toEqual([
      'L1',
      'a1',
      'a2',
      'c1',
    ]);
    expect(await store.check()).toMatchObject({ ok: true });
  });

  it('sees within a call what the call has done so far', async () => {
    const { host } = testHost();
    const outcomes = await host.submit([
      draft('ledger.opened', 'L1', { ledgerId: 'L1' }),
      add('L1', 5, 'e1'),
      { ...add('L1', 5, 'e1') },
      { ...add('L1', 1, 'e2'), expectedVersion: 2 },
    ]);
    expect(outcomes.map(({ outcome, version }) => [outcome, version])).toEqual([
      ['changed', 1],
      ['changed', 2],
      ['duplicate', 2],
      ['changed', 3],
    ]);
  });

  it('counts an invalid event as rejected', async () => {
    const { host } = testHost();
    await openLedger(host);
    const outcomes = await host.submit([add('L1', 5), draft('ledger.added', 'L1', {})]);
    expect(outcomes.map(({ reason }) => reason)).toEqual(['call_rolled_back', 'invalid_event']);
    expect(totalOf(host)).toBe(0);
  });

  it('does not count an ignored event as rejected', async () => {
    const { host } = testHost();
    await openLedger(host);
    await submitOne(host, draft('task.reserved', 'T1', { taskId: 'T1' }));
    await submitOne(host, draft('task.ended', 'T1'));
    const outcomes = await host.submit([draft('task.renamed', 'T1'), add('L1', 5)]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['ignored_terminal', 'changed']);
  });

  it('takes nothing and too much for what they are', async () => {
    const { host } = testHost();
    expect(await host.submit([])).toEqual([]);
    await expect(host.submit(Array.from({ length: 257 }, () => add('L1', 1)))).rejects.toThrow('at most 256');
  });
});

describe('K7, C.11: relays', () => {
  const passed = (to: string[], eventId = 'p1') => withId(eventId, draft('ledger.passed', 'L1', { amount: 1, to }));

  it('delivers what follows in the same transaction, under the same id where it is the same fact', async () => {
    const { host, store } = testHost();
    for (const id of ['L1', 'L2', 'L3']) await openLedger(host, id);
    const outcome = await submitOne(host, passed(['L2', 'L3']));
    expect(outcome).toMatchObject({
      outcome: 'changed',
      position: 4,
      relays: [
        {
          actor: { id: 'L2' },
          eventId: 'p1',
          outcome: 'changed',
          position: 5,
          relays: [{ actor: { id: 'L3' }, position: 6 }],
        },
      ],
    });
    expect(['L1', 'L2', 'L3'].map((id) => totalOf(host, id))).toEqual([1, 1, 1]);
    expect(store.journal.page({ after: 4, limit: 1 })).toMatchObject([
      { envelope: { producer: { kind: 'goal', id: 'L1' }, causationId: 'p1', eventId: 'p1' } },
    ]);
    expect(host.applied('p1').map(({ actor }) => actor.id)).toEqual(['L1', 'L2', 'L3']);
  });

  it('records a rejected relay and goes on', async () => {
    const { host, store } = testHost();
    await openLedger(host, 'L1');
    const outcome = await submitOne(host, passed(['L9']));
    expect(outcome).toMatchObject({ outcome: 'changed', relays: [{ outcome: 'rejected', reason: 'unknown_actor' }] });
    expect(totalOf(host)).toBe(1);
    expect(store.rejections.newest()).toMatchObject([
      { actor: { kind: 'goal', id: 'L9' }, reason: 'unknown_actor', eventId: 'p1' },
    ]);
  });

  it('relays a repeated event no second time, and a noop never', async () => {
    const { host } = testHost();
    for (const id of ['L1', 'L2']) await openLedger(host, id);
    await submitOne(host, passed(['L2']));
    expect(await submitOne(host, passed(['L2']))).toMatchObject({ outcome: 'duplicate', relays: [] });
    await submitOne(host, draft('ledger.closed', 'L1'));
    expect(await submitOne(host, passed(['L2'], 'p2'))).toMatchObject({ outcome: 'noop', relays: [] });
    expect(totalOf(host, 'L2')).toBe(1);
  });

  it('rolls relays back with their call', async () => {
    const { host, store } = testHost();
    for (const id of ['L1', 'L2']) await openLedger(host, id);
    const before = contentOf(store);
    await host.submit([passed(['L2']), add('L1', 500)]);
    expect(contentOf(store)).toEqual(before);
    expect(totalOf(host, 'L2')).toBe(0);
  });

  it('finds its targets by link, leaves out the released, and numbers each by its own key', async () => {
    const { host, store } = testHost();
    await openLedger(host, 'L1');
    for (const id of ['T1', 'T2', 'T3']) {
      await submitOne(host, draft('task.reserved', id, { taskId: id, ledgerId: id === 'T3' ? 'L2' : 'L1' }));
    }
    await submitOne(host, draft('task.ended', 'T1'));
    const outcome = await submitOne(host, draft('ledger.closed', 'L1'));
    expect(outcome.relays).toMatchObject([
      { actor: { kind: 'run', id: 'T2' }, outcome: 'changed', eventId: `${store.installationId}:end:T2` },
    ]);
    expect(['T1', 'T2', 'T3'].map((id) => host.snapshotOf('run', id)?.status)).toEqual(['done', 'done', 'active']);
  });

  it('ends a chain at its depth and a call at its number of relays, on record', async () => {
    const { host, store } = testHost({ limits: { relayDepth: 2 } });
    for (const id of ['L1', 'L2', 'L3', 'L4']) await openLedger(host, id);
    await submitOne(host, passed(['L2', 'L3', 'L4']));
    expect(['L2', 'L3', 'L4'].map((id) => totalOf(host, id))).toEqual([1, 1, 0]);
    expect(store.rejections.newest()).toMatchObject([{ actor: { id: 'L4' }, reason: 'relay_limit' }]);
    const few = testHost({ limits: { relaysPerCall: 1 } });
    for (const id of ['L1', 'L2', 'L3']) await openLedger(few.host, id);
    await submitOne(few.host, passed(['L2', 'L3']));
    expect(['L2', 'L3'].map((id) => totalOf(few.host, id))).toEqual([1, 0]);
  });

  it('fails only its own call when the protocol itself throws', async () => {
    const relaysOf: typeof fixtureProtocol.relaysOf = (change) => {
      if (change.event.type === 'ledger.noted' || change.event.type === 'ledger.given') throw new Error('relay bug');
      return fixtureProtocol.relaysOf(change);
    };
    const { host, store, faults } = testHost({ relaysOf });
    await openLedger(host);
    const before = contentOf(store);
    const [buggy, fine] = await Promise.allSettled([
      host.submit([draft('ledger.given', 'L1', { owner: 'A' })]),
      host.submit([add('L1', 5)]),
    ]);
    expect(buggy).toMatchObject({ status: 'rejected', reason: { message: 'relay bug' } });
    expect(fine).toMatchObject({ status: 'fulfilled', value: [{ outcome: 'changed', version: 2 }] });
    expect(faults).toMatchObject([{ code: 'machine_threw' }]);
    expect(before).toMatchObject({ journal: [{ position: 1 }] });
    expect(host.linked('goal', 'owner', 'A')).toEqual([]);
  });
});

describe('links and lists', () => {
  it('follows the links of the committed state', async () => {
    const { host } = testHost();
    await openLedger(host, 'L1', 'A');
    await openLedger(host, 'L2', 'A');
    expect(host.linked('goal', 'owner', 'A')).toEqual(['L1', 'L2']);
    await submitOne(host, draft('ledger.given', 'L1', { owner: 'B' }));
    expect([host.linked('goal', 'owner', 'A'), host.linked('goal', 'owner', 'B')]).toEqual([['L2'], ['L1']]);
    await host.submit([draft('ledger.given', 'L2', { owner: 'B' }), add('L2', 500)]);
    expect(host.linked('goal', 'owner', 'A')).toEqual(['L2']);
    await submitOne(host, draft('ledger.closed', 'L1'));
    const open = host.list('goal', { link: { name: 'owner', value: 'B' }, released: false });
    expect(open).toEqual([]);
    expect(host.list('goal', { settled: false }).map(({ id, released }) => [id, released])).toEqual([
      ['L1', true],
      ['L2', false],
    ]);
    await submitOne(host, draft('ledger.audited', 'L1'));
    expect(host.list('goal', { settled: true }).map(({ id }) => id)).toEqual(['L1']);
    expect(host.versionOf('goal', 'L1')).toBe(4);
    expect(host.versionOf('goal', 'L9')).toBeUndefined();
  });
});

describe('BIND-01..04: bindings', () => {
  const admit = (taskId: string, epoch?: number) =>
    draft('tree.admitted', 'W1', epoch === undefined ? { taskId } : { taskId, epoch });
  const reserve = (taskId: string) => draft('task.reserved', taskId, { taskId });

  async function withTree() {
    const test = testHost();
    await submitOne(test.host, draft('tree.registered', 'W1', { treeId: 'W1' }));
    return test;
  }

  it('BIND-01: run, binding and generation commit together or not at all', async () => {
    const { host, store } = await withTree();
    const outcomes = await host.submit([reserve('R1'), admit('R1')]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['changed', 'changed']);
    expect(store.bindings.ofRun('R1')).toMatchObject({ generationId: 'W1', epoch: 1, eventId: outcomes[1]?.eventId });
    const before = contentOf(store);
    const refused = await host.submit([reserve('R2'), admit('R2'), draft('task.renamed', 'R9')]);
    expect(refused.map(({ reason }) => reason)).toEqual(['call_rolled_back', 'call_rolled_back', 'unknown_actor']);
    expect(store.bindings.ofRun('R2')).toBeUndefined();
    expect(contentOf(store)).toEqual(before);
  });

  it('BIND-01: needs the run', async () => {
    const { host, store } = await withTree();
    expect(await submitOne(host, admit('R1'))).toMatchObject({
      outcome: 'rejected',
      reason: 'binding_conflict',
      version: 1,
    });
    expect(host.snapshotOf('worktreeGeneration', 'W1')?.context.epoch).toBe(0);
    expect(store.bindings.ofGeneration('W1')).toEqual([]);
  });

  it('BIND-04, FAULT-03: a second binding of a run is binding_conflict', async () => {
    const { host, store } = await withTree();
    await submitOne(host, draft('tree.registered', 'W2', { treeId: 'W2' }));
    await host.submit([reserve('R1'), admit('R1')]);
    const elsewhere = { ...admit('R1'), actor: { kind: 'worktreeGeneration', id: 'W2' } };
    for (const again of [admit('R1'), elsewhere]) {
      expect(await submitOne(host, again)).toMatchObject({
        outcome: 'rejected',
        reason: 'binding_conflict',
        version: expect.any(Number),
      });
    }
    expect(store.bindings.ofRun('R1')).toMatchObject({ generationId: 'W1', epoch: 1 });
    expect(host.snapshotOf('worktreeGeneration', 'W1')?.context.epoch).toBe(1);
  });

  it('BIND-01: a relayed admission that may not be bound leaves the generation as it was', async () => {
    const relaysOf: typeof fixtureProtocol.relaysOf = ({ event }) => {
      if (event.type !== 'ledger.given') return [];
      const to = { kind: 'worktreeGeneration', id: 'W1' };
      return [{ to, type: 'tree.admitted', payload: { taskId: event.owner } }] as unknown as ReturnType<
        typeof relaysOf
      >;
    };
    const { host, store } = testHost({ relaysOf });
    await submitOne(host, draft('tree.registered', 'W1', { treeId: 'W1' }));
    await openLedger(host);
    expect(await submitOne(host, draft('ledger.given', 'L1', { owner: 'R9' }))).toMatchObject({
      outcome: 'changed',
      relays: [{ outcome: 'rejected', reason: 'binding_conflict', version: 1 }],
    });
    expect(store.actors.read({ kind: 'worktreeGeneration', id: 'W1' })?.version).toBe(1);
    expect(await store.check()).toMatchObject({ ok: true });
    await submitOne(host, draft('task.reserved', 'R1', { taskId: 'R1' }));
    await submitOne(host, draft('ledger.given', 'L1', { owner: 'R1' }));
    expect(store.bindings.ofRun('R1')).toMatchObject({ generationId: 'W1', epoch: 1 });
  });

  it('BIND-02: epochs grow, whatever a chart may compute', async () => {
    const { host, store } = await withTree();
    await host.submit([reserve('R1'), admit('R1', 5)]);
    for (const epoch of [4, 1]) {
      const [, outcome] = await host.submit([reserve('R2'), admit('R2', epoch)]);
      expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'binding_conflict' });
    }
    await host.submit([reserve('R2'), admit('R2')]);
    expect(store.bindings.ofGeneration('W1').map(({ runId, epoch }) => [runId, epoch])).toEqual([
      ['R2', 6],
      ['R1', 5],
    ]);
  });
});
