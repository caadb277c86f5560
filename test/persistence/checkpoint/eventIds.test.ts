import { describe, expect, it, onTestFinished } from 'vitest';
import { refusal } from '../../../actors/runtime/submission.ts';
import { startOf } from '../../../machines/sequencedId.ts';
import { forgetEventIds, horizonFor, horizonOf } from '../../../persistence/checkpoint/eventIds.ts';
import type { Store } from '../../../persistence/store.ts';
import { checkpointed, everyEvent, everySnapshot, later } from '../support/checkpointing.ts';
import { History, idOf } from '../support/history.ts';
import { newStore, opened } from '../support/temporaryStore.ts';

function history(store: Store = newStore()): History {
  const made = new History(store);
  onTestFinished(() => made.host.close());
  return made;
}

async function restarted({ host, store }: History): Promise<History> {
  await host.close();
  store.close();
  return history(opened({ stateDir: store.stateDir, create: false }));
}

function forget(store: Store, keepStarts: number, more: { rows?: number; dryRun?: boolean } = {}): number {
  const steps = forgetEventIds({
    store,
    horizon: horizonFor(store, keepStarts),
    wallMs: later,
    rows: 7,
    dryRun: false,
    ...more,
  });
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

describe('RET-03: a repeated event after a checkpoint', () => {
  it('is a duplicate with the stored result, whether its row is there or not', async () => {
    const past = history();
    const life = past.life(1, { observations: 10 });
    await past.submit(life);
    const before = await past.host.submit(life);
    checkpointed(past.store);
    const rows = everyEvent(past.store).length;
    const snapshots = everySnapshot(past.store);
    const again = await past.host.submit(life);
    expect(again).toEqual(before);
    expect(again.map(({ outcome }) => outcome)).toEqual(life.map(() => 'duplicate'));
    expect(everyEvent(past.store)).toHaveLength(rows);
    expect(everySnapshot(past.store)).toEqual(snapshots);
  });

  it('under the same id with another payload is a conflict, as before (JRN-05)', async () => {
    const past = history();
    const life = past.life(1, { observations: 2 });
    await past.submit(life);
    checkpointed(past.store);
    const observation = life.find(({ type }) => type === 'guardian.observed')!;
    const changed = { ...observation, payload: { ...observation.payload, reason: 'another' } };
    const [outcome] = await past.host.submit([changed]);
    expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'event_id_conflict' });
  });

  it('from behind the horizon is refused with exit 11, for whatever actor, and changes nothing', async () => {
    let past = history();
    const life = past.life(1, { observations: 10, ends: false });
    await past.submit(life);
    past = await restarted(past);
    const present = past.observations(1, 3);
    await past.submit(present);
    expect(forget(past.store, 1)).toBe(10);
    const snapshots = everySnapshot(past.store);
    const observation = life.find(({ type }) => type === 'guardian.observed')!;
    const [expired] = await past.host.submit([observation]);
    expect(expired).toMatchObject({ outcome: 'rejected', reason: 'expired_event_id' });
    expect(refusal(expired!, [])).toMatchObject({ code: 'expired_event_id', exitCode: 11, retryable: false });
    const [other] = await past.host.submit([{ ...observation, actor: { kind: 'executionScope', id: idOf('S', 2) } }]);
    expect(other).toMatchObject({ outcome: 'rejected', reason: 'expired_event_id' });
    expect(everySnapshot(past.store)).toEqual(snapshots);
    // Those of the present start, and keys of facts, are known as before.
    const known = await past.host.submit([...present, life[0]!]);
    expect(known.map(({ outcome }) => outcome)).toEqual(['duplicate', 'duplicate', 'duplicate', 'duplicate']);
  });

  it('the horizon never goes back, is on record, and a dry run sets none', async () => {
    let past = history();
    await past.live(1, { observations: 4 });
    past = await restarted(past);
    await past.live(2);
    expect(forget(past.store, 1, { dryRun: true })).toBe(4);
    expect(horizonOf(past.store)).toBeUndefined();
    expect(forget(past.store, 1)).toBe(4);
    expect(past.store.retentions.newest(1)).toMatchObject([
      { what: 'event_ids', report: { horizon: { epoch: 1, startNumber: 2 } } },
    ]);
    expect(horizonFor(past.store, 50)).toEqual({ epoch: 1, startNumber: 2 });
    expect(await past.store.check()).toMatchObject({ ok: true });
  });

  it('a step that is cut off refuses already what it has not reached', async () => {
    let past = history();
    const life = past.life(1, { observations: 20, ends: false });
    await past.submit(life);
    past = await restarted(past);
    await past.live(2);
    const options = { store: past.store, horizon: horizonFor(past.store, 1), wallMs: later, rows: 3, dryRun: false };
    const steps = forgetEventIds(options);
    steps.next();
    steps.next();
    const outcomes = await Promise.all(
      life.filter(({ type }) => type === 'guardian.observed').map((one) => past.host.submit([one])),
    );
    const found = new Set(outcomes.flat().map(({ outcome, reason }) => reason ?? outcome));
    expect(found).toEqual(new Set(['duplicate', 'expired_event_id']));
  });
});

describe('ids that a start of the daemon has numbered', () => {
  it.each([
    ['go:S0000000001:3.14.159', { epoch: 3, startNumber: 14 }],
    ['recovery.started:1.2.3', { epoch: 1, startNumber: 2 }],
    ['drain.quiesced:S0000000001:1.2.3', { epoch: 1, startNumber: 2 }],
    ['I0123456789:request:go:S1:1.2.3', undefined],
    ['I0123456789:tick:K1:7', undefined],
    ['rebuilt:I0123456789:scope:S1', undefined],
    ['go:S0000000001:1.2', undefined],
    ['go:S0000000001:1.2.3.4', undefined],
    ['go:S0000000001:1.2.3>scope.settled', undefined],
    ['e1', undefined],
  ])('%s', (eventId, start) => expect(startOf(eventId)).toEqual(start));
});
