import { describe, expect, it } from 'vitest';
import { add, contentOf, draft, openLedger, submitOne, testHost, totalOf, withId } from './support/testHost.ts';

describe('JRN-12, K3: five outcomes', () => {
  it('changed: a new version, one journal row, the new snapshot', async () => {
    const { host, store } = testHost();
    expect(await openLedger(host)).toMatchObject({ outcome: 'changed', version: 1, position: 1, relays: [] });
    expect(await submitOne(host, add('L1', 5, 'e1'))).toEqual({
      actor: { kind: 'goal', id: 'L1' },
      eventId: 'e1',
      type: 'ledger.added',
      outcome: 'changed',
      version: 2,
      position: 2,
      relays: [],
    });
    expect(totalOf(host)).toBe(5);
    expect(store.actors.read({ kind: 'goal', id: 'L1' })).toMatchObject({ version: 2, definitionVersion: 1 });
  });

  it('noop: journaled, remembered, no new version', async () => {
    const { host, store } = testHost();
    await openLedger(host);
    const noted = withId('n1', draft('ledger.noted', 'L1'));
    expect(await submitOne(host, noted)).toMatchObject({ outcome: 'noop', version: 1, position: 2 });
    expect(await submitOne(host, noted)).toMatchObject({
      outcome: 'duplicate',
      stored: 'noop',
      version: 1,
      position: 2,
    });
    expect(store.journal.page().map((entry) => entry.intact && entry.outcome)).toEqual(['changed', 'noop']);
  });

  it('duplicate (JRN-04, FAULT-02): answers with the stored result and writes nothing', async () => {
    const { host, store } = testHost();
    await openLedger(host);
    await submitOne(host, add('L1', 5, 'e1'));
    await submitOne(host, add('L1', 1, 'e2'));
    const before = contentOf(store);
    const again = await submitOne(host, { ...add('L1', 5, 'e1'), producer: { kind: 'other', id: 'x' } });
    expect(again).toMatchObject({ outcome: 'duplicate', stored: 'changed', version: 2, position: 2 });
    expect(contentOf(store)).toEqual(before);
    expect(host.applied('e1')).toMatchObject([{ actor: { kind: 'goal', id: 'L1' }, outcome: 'changed', version: 2 }]);
  });

  it('rejected: with the reason and the guards that refused', async () => {
    const { host, store } = testHost();
    await openLedger(host);
    const before = contentOf(store);
    expect(await submitOne(host, add('L1', 500, 'big'))).toMatchObject({
      outcome: 'rejected',
      reason: 'guard_refused',
      guards: ['isSmall'],
      version: 1,
    });
    await submitOne(host, draft('ledger.closed', 'L1'));
    expect(await submitOne(host, add('L1', 5))).toMatchObject({
      outcome: 'rejected',
      reason: 'not_in_state',
      version: 2,
    });
    expect(await submitOne(host, add('L9', 5))).toMatchObject({
      outcome: 'rejected',
      reason: 'unknown_actor',
      version: 0,
    });
    expect(await submitOne(host, withId('other', draft('ledger.opened', 'L1', { ledgerId: 'L1' })))).toMatchObject({
      outcome: 'rejected',
      reason: 'actor_exists',
    });
    expect(
      store.rejections.newest().map(({ reason, eventId, detail }) => [reason, eventId.slice(0, 5), detail]),
    ).toEqual([
      ['actor_exists', 'other', []],
      ['unknown_actor', expect.any(String), []],
      ['not_in_state', expect.any(String), []],
      ['guard_refused', 'big', ['isSmall']],
    ]);
    expect(before).toMatchObject({ journal: [{ position: 1 }] });
  });

  it('ruling 3: a rejected event id is free: its retry may succeed', async () => {
    const { host } = testHost();
    expect(await submitOne(host, add('L1', 5, 'early'))).toMatchObject({
      outcome: 'rejected',
      reason: 'unknown_actor',
    });
    await openLedger(host);
    expect(await submitOne(host, add('L1', 500, 'early'))).toMatchObject({
      outcome: 'rejected',
      reason: 'guard_refused',
    });
    expect(await submitOne(host, add('L1', 5, 'early'))).toMatchObject({ outcome: 'changed' });
  });

  it('ignored_terminal: a finished machine gets no events, though its root would still take them', async () => {
    const { host, store } = testHost();
    await submitOne(host, draft('task.reserved', 'T1', { taskId: 'T1' }));
    await submitOne(host, draft('task.ended', 'T1'));
    const before = contentOf(store);
    expect(await submitOne(host, draft('task.renamed', 'T1'))).toMatchObject({
      outcome: 'ignored_terminal',
      reason: 'terminal',
      version: 2,
    });
    expect(host.snapshotOf('run', 'T1')?.context.taskId).toBe('T1');
    expect(contentOf(store)).toEqual(before);
    expect(store.rejections.newest()).toMatchObject([{ outcome: 'ignored_terminal', type: 'task.renamed' }]);
  });
});

describe('JRN-05, I-35: one event id, one content', () => {
  it.each([
    ['another payload', add('L1', 6, 'e1')],
    ['another field', withId('e1', draft('ledger.added', 'L1', { amount: 5, memo: 'more' }))],
    ['another type', withId('e1', draft('ledger.launched', 'L1', { amount: 5 }))],
    [
      'a basis',
      {
        ...add('L1', 5, 'e1'),
        basis: { goalId: 'G1', occurrence: 1, step: 'plan', nodeId: 'N1', round: 1, claimId: null } as never,
      },
    ],
  ])('refuses %s under a known id, and changes nothing', async (_, conflicting) => {
    const { host, store } = testHost();
    await openLedger(host);
    await submitOne(host, add('L1', 5, 'e1'));
    const before = contentOf(store);
    expect(await submitOne(host, conflicting)).toMatchObject({
      outcome: 'rejected',
      reason: 'event_id_conflict',
      position: 2,
    });
    expect(contentOf(store)).toEqual(before);
  });

  it('compares content, not spelling', async () => {
    const { host } = testHost();
    await openLedger(host);
    await submitOne(host, withId('e1', draft('ledger.added', 'L1', { amount: 5, memo: 'm' })));
    const reordered = withId('e1', draft('ledger.added', 'L1', { memo: 'm', amount: 5 }));
    expect(await submitOne(host, reordered)).toMatchObject({ outcome: 'duplicate' });
  });

  it('ruling 2: the same id is free for another actor', async () => {
    const { host } = testHost();
    await openLedger(host, 'L1');
    await openLedger(host, 'L2');
    await submitOne(host, add('L1', 5, 'shared'));
    expect(await submitOne(host, add('L2', 7, 'shared'))).toMatchObject({ outcome: 'changed' });
    expect(host.applied('shared').map(({ actor }) => actor.id)).toEqual(['L1', 'L2']);
  });

  it('derives the id from the fact, prefixed with the installation, or makes a new one', async () => {
    const { host, store } = testHost();
    const opened = await openLedger(host);
    expect(opened.eventId).toBe(`${store.installationId}:ledger:L1`);
    expect(await openLedger(host)).toMatchObject({ outcome: 'duplicate', eventId: opened.eventId });
    const [one, other] = await Promise.all([submitOne(host, add('L1', 1)), submitOne(host, add('L1', 1))]);
    expect(one.eventId).not.toBe(other.eventId);
    expect(totalOf(host)).toBe(2);
  });
});

describe('JRN-03, PRIV-03: events are validated once, at submission, and what is wrong is kept without its words', () => {
  it.each([
    ['an unknown type', draft('ledger.invented', 'L1'), 'type: unknown'],
    ['a property of every object as a type', { ...add('L1', 1), type: 'constructor' }, 'type: unknown'],
    [
      'a kind that does not take the type',
      { ...add('L1', 1), actor: { kind: 'run', id: 'L1' } },
      'actor.kind: does not take this type',
    ],
    ['a missing field', draft('ledger.added', 'L1'), 'payload.amount: invalid_type'],
    ['a field of another type', draft('ledger.added', 'L1', { amount: 'secret' }), 'payload.amount: invalid_type'],
    ['an unknown payload field', draft('ledger.added', 'L1', { amount: 1, secret: 1 }), 'payload: unrecognized_keys'],
    [
      'a payload field with a hostile name',
      draft('ledger.added', 'L1', { amount: 1, [`"secret"\u001b[31m${'x'.repeat(10_000)}`]: 1 }),
      'payload: unrecognized_keys',
    ],
    ['an unknown envelope field', { ...add('L1', 1), secret: 1 } as never, 'event: unrecognized_keys'],
    ['a bad basis', { ...add('L1', 1), basis: { goalId: 'G1' } as never }, 'basis.occurrence: invalid_type'],
    ['a bad version', { ...add('L1', 1), expectedVersion: -1 }, 'expectedVersion: too_small'],
    ['a long event id', add('L1', 1, 'e'.repeat(257)), 'eventId: too_big'],
    ['no producer', { ...add('L1', 1), producer: undefined as never }, 'producer: invalid_type'],
    ['nothing', null as never, 'event: invalid_type'],
  ])('refuses %s as invalid_event', async (_, invalid, problem) => {
    const { host, store } = testHost();
    await openLedger(host);
    const before = contentOf(store);
    const outcome = await submitOne(host, invalid);
    expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'invalid_event', relays: [] });
    expect(outcome.detail).toContain(problem);
    expect(JSON.stringify([outcome, store.rejections.newest()])).not.toContain('"secret"');
    expect(contentOf(store)).toEqual(before);
  });

  it('bounds the payload at 16 KiB, counted in bytes', async () => {
    const { host } = testHost();
    await openLedger(host);
    const sized = (bytes: number) => draft('ledger.added', 'L1', { amount: 1, memo: 'é'.repeat((bytes - 22) / 2) });
    expect(await submitOne(host, sized(16_384))).toMatchObject({ outcome: 'changed' });
    expect(await submitOne(host, sized(16_386))).toMatchObject({
      outcome: 'rejected',
      reason: 'invalid_event',
      detail: ['payload: over 16384 bytes'],
    });
  });

  it('journals what was submitted, whatever becomes of the caller’s object', async () => {
    const { host, store } = testHost();
    await openLedger(host);
    const payload = { amount: 5 };
    const submitted = submitOne(host, { ...draft('ledger.added', 'L1', payload), causationId: 'why' });
    payload.amount = 7;
    await submitted;
    expect(store.journal.page({ after: 1 })).toMatchObject([
      {
        envelope: {
          schemaVersion: 1,
          type: 'ledger.added',
          actor: { kind: 'goal', id: 'L1' },
          producer: { kind: 'test', id: 't1' },
          causationId: 'why',
          at: { wallMs: expect.any(Number), monoMs: expect.any(Number), bootId: expect.any(String) },
          payload: { amount: 5 },
        },
      },
    ]);
    expect(totalOf(host)).toBe(5);
  });
});

describe('JRN-06, CONC-03, I-37: expected versions', () => {
  it('accepts an event only at the version that its producer saw', async () => {
    const { host, store } = testHost();
    await openLedger(host);
    expect(await submitOne(host, { ...add('L1', 1), expectedVersion: 1 })).toMatchObject({
      outcome: 'changed',
      version: 2,
    });
    const before = contentOf(store);
    expect(await submitOne(host, { ...add('L1', 1), expectedVersion: 1 })).toMatchObject({
      outcome: 'rejected',
      reason: 'version_conflict',
      version: 2,
    });
    expect(contentOf(store)).toEqual(before);
  });

  it('answers a repeat before it looks at the version', async () => {
    const { host } = testHost();
    await openLedger(host);
    const event = { ...add('L1', 1, 'e1'), expectedVersion: 1 };
    await submitOne(host, event);
    expect(await submitOne(host, event)).toMatchObject({ outcome: 'duplicate', version: 2 });
  });

  it('takes 0 for an actor that must not exist', async () => {
    const { host } = testHost();
    const creation = draft('ledger.opened', 'L1', { ledgerId: 'L1' });
    expect(await submitOne(host, { ...creation, expectedVersion: 1 })).toMatchObject({
      reason: 'version_conflict',
      version: 0,
    });
    expect(await submitOne(host, { ...creation, expectedVersion: 0 })).toMatchObject({ outcome: 'changed' });
  });

  it('calls a sample stale when its actor has moved on', async () => {
    const { host } = testHost();
    await submitOne(host, draft('task.reserved', 'T1', { taskId: 'T1' }));
    await submitOne(host, draft('task.renamed', 'T1'));
    const sample = { ...draft('task.sampled', 'T1', { basisVersion: 1 }), expectedVersion: 1 };
    expect(await submitOne(host, sample)).toMatchObject({ outcome: 'rejected', reason: 'stale_sample' });
  });
});

describe('a chart that throws is a bug report, not a dead actor', () => {
  it.each(['ledger.guarded', 'ledger.failed'])('%s', async (type) => {
    const { host, store, faults } = testHost();
    await openLedger(host);
    const before = contentOf(store);
    expect(await submitOne(host, draft(type, 'L1'))).toMatchObject({ outcome: 'rejected', reason: 'machine_threw' });
    expect(faults).toMatchObject([{ code: 'machine_threw', actor: { kind: 'goal', id: 'L1' }, type }]);
    expect(contentOf(store)).toEqual(before);
    expect(await submitOne(host, add('L1', 5))).toMatchObject({ outcome: 'changed', version: 2 });
  });
});
