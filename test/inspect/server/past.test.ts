/** What is shown of an actor whose journal has holes, and of one that the fleet does not know. */
import { describe, expect, it } from 'vitest';
import type { Host } from '../../../actors/host/api.ts';
import { draft } from '../../../actors/runtime/submission.ts';
import { actorAnswer } from '../../../inspect/server/actors/actorView.ts';
import { Histories } from '../../../inspect/server/actors/history.ts';
import { momentAt, reachOf } from '../../../inspect/server/actors/moment.ts';
import type { Replay } from '../../../inspect/server/actors/replay.ts';
import { Fleet } from '../../../inspect/server/fleet/fleet.ts';
import { sequenceOf } from '../../../inspect/server/sequence.ts';
import { timelineOf } from '../../../inspect/server/timeline.ts';
import { goalInput } from '../../machines/support/goalEvidence.ts';
import { History, idOf } from '../../persistence/support/history.ts';
import { newStore } from '../../persistence/support/temporaryStore.ts';
import { hosted } from './support/hosted.ts';

async function life(observations: number, mostEvents?: number) {
  const past = new History(newStore());
  await past.live(1, { observations });
  const { store, host } = past;
  const id = idOf('S', 1);
  const key = store.actors.keyOf({ kind: 'executionScope', id })!;
  const histories = new Histories({
    store,
    headOf: (kind, id) => ({ snapshot: host.snapshotOf(kind, id)!, version: host.versionOf(kind, id)! }),
    ...(mostEvents === undefined ? {} : { mostEvents }),
  });
  const positions = () => store.journal.rowsOf(key, 0, 1_000).map(({ position }) => position);
  return {
    past,
    store,
    host,
    id,
    histories,
    positions,
    of: () => histories.of('executionScope', id) as Promise<Replay>,
  };
}

describe('a life with a hole in its middle', () => {
  it('is not known from behind the last event before the hole', async () => {
    const { store, positions, of } = await life(6);
    const [first, ...rest] = positions();
    const [kept] = rest.splice(3, 1);
    const gone = rest.slice(0, 3);
    store.write(() => {
      for (const position of gone) store.journal.remove(position);
    });
    const replay = await of();
    expect(replay.moments.map(({ position }) => position)).toEqual([first]);
    expect(replay.stopped).toMatchObject({ position: first! + 1, wallMs: replay.moments[0]!.envelope.at.wallMs });
    expect(momentAt(replay, first!)).toMatchObject({ known: true, position: first });
    for (const position of [first! + 1, ...gone, kept! - 1, kept!, positions().at(-1)!])
      expect(momentAt(replay, position), String(position)).toMatchObject({
        known: false,
        reason: expect.stringContaining('checkpoint'),
      });
    expect(reachOf(replay)).toMatchObject({ from: first, to: first, begins: 'creation' });
    expect(reachOf(replay).sentence).toContain(`from position ${first! + 1} on`);
  });

  it('is known up to where it was given up for its length, and says why', async () => {
    const { positions, of } = await life(6, 3);
    const replay = await of();
    const fourth = positions()[3]!;
    expect(replay.moments).toHaveLength(3);
    expect(replay).toMatchObject({ missing: 0, isProved: false, stopped: { position: fourth } });
    expect(momentAt(replay, fourth - 1)).toMatchObject({ known: true });
    expect(momentAt(replay, fourth)).toMatchObject({ known: false, reason: expect.stringContaining('no more than 3') });
    expect(reachOf(replay).sentence).not.toContain('All of its life');
  });
});

it('a replay goes on from where it stands, and is the same for who asks at once', async () => {
  const past = new History(newStore());
  const { store, host } = past;
  const drafts = past.life(1, { observations: 4 });
  const id = idOf('S', 1);
  await past.submit(drafts.slice(0, 3));
  let rows = 0;
  const journal = {
    ...store.journal,
    rowsOf(...args: Parameters<typeof store.journal.rowsOf>) {
      const found = store.journal.rowsOf(...args);
      rows += found.length;
      return found;
    },
  };
  const histories = new Histories({
    store: { actors: store.actors, journal },
    headOf: (kind, id) => ({ snapshot: host.snapshotOf(kind, id)!, version: host.versionOf(kind, id)! }),
  });
  const before = (await histories.of('executionScope', id))!;
  const first = before.moments.length;
  await past.submit(drafts.slice(3));
  const [one, other] = await Promise.all([histories.of('executionScope', id), histories.of('executionScope', id)]);
  expect(one).toBe(other);
  expect(before.moments).toHaveLength(first);
  expect(one!.moments.length).toBeGreaterThan(first);
  expect(one!.isProved).toBe(true);
  expect(rows).toBe(one!.moments.length);
});

describe('an actor that the fleet has not read in', () => {
  it('is there with its timeline and its messages', async () => {
    const { addGoals, idOf: goal, daemon } = hosted();
    await addGoals(0, 200);
    const id = goal(199);
    const fleet = new Fleet(daemon.store);
    fleet.close();
    await fleet.ready;
    expect(fleet.row('goal', id)).toBeUndefined();
    const { store, host } = daemon;
    const histories = new Histories({
      store,
      headOf: (kind, id) => ({ snapshot: host.snapshotOf(kind, id)!, version: host.versionOf(kind, id)! }),
    });
    const parts = { daemon, fleet, histories };
    const { row, position } = await actorAnswer(parts, { kind: 'goal', id });
    expect(row).toMatchObject({ kind: 'goal', id, label: 'one of many', version: 1, position });
    expect(await timelineOf(parts, id)).toMatchObject({ title: 'one of many', status: 'backlog', cut: false });
    expect((await sequenceOf(parts, { limit: 10, goalId: id })).messages).toHaveLength(1);
  });
});

/** A Goal that may be queued. */
async function authored(host: Host): Promise<string> {
  const payload = goalInput();
  await host.submit([draft('goal.created', { to: ['goal', payload.goalId], payload: payload as never, by: 'test' })]);
  return payload.goalId;
}

describe('what is committed while an answer is made', () => {
  it('is in all of it or in nothing', async () => {
    const { daemon } = hosted();
    const { store, host } = daemon;
    const id = await authored(host);
    let queued: Promise<unknown> | undefined;
    const headOf = (kind: 'goal', id: string) => ({
      snapshot: host.snapshotOf(kind, id)!,
      version: host.versionOf(kind, id)!,
    });
    const histories = new Histories({ store, headOf: headOf as never });
    const slow = {
      async of(...args: Parameters<Histories['of']>) {
        const found = await histories.of(...args);
        queued ??= host.submit([
          draft('goal.queued', {
            to: ['goal', id],
            payload: { expectedRevision: 1, actor: 'operator' } as never,
            by: 'test',
          }),
        ]);
        await queued;
        return found;
      },
    } as Histories;
    const answer = await actorAnswer({ daemon, fleet: new Fleet(store), histories: slow }, { kind: 'goal', id });
    expect(answer).toMatchObject({ version: 2, context: { status: 'todo' }, reach: { to: answer.position } });
    expect(answer.journal.events[0]).toMatchObject({ type: 'goal.queued', position: answer.position });
    expect(answer.row.version).toBe(2);
  });
});

describe('the timeline of a Goal of whose life a part is gone', () => {
  it('shows the stretch as unknown, and the present as it is', async () => {
    const { daemon } = hosted();
    const { store, host } = daemon;
    const id = await authored(host);
    const submit = (type: string, payload: object) =>
      host.submit([draft(type as 'goal.queued', { to: ['goal', id], payload: payload as never, by: 'test' })]);
    await submit('goal.queued', { expectedRevision: 1, actor: 'operator' });
    await submit('goal.cancelled', { requestId: 'Qcancel00001', actor: 'operator', reason: 'test' });
    expect(host.snapshotOf('goal', id)?.context).toMatchObject({ status: 'cancelled' });
    const [first, second, third] = store.journal.page({ actor: { kind: 'goal', id } }).map(({ position }) => position);
    store.write(() => store.journal.remove(second!));
    const headOf = (kind: 'goal', id: string) => ({
      snapshot: host.snapshotOf(kind, id)!,
      version: host.versionOf(kind, id)!,
    });
    const histories = new Histories({ store, headOf: headOf as never });
    const timeline = await timelineOf({ daemon, fleet: new Fleet(store), histories }, id);
    expect(timeline).toMatchObject({ status: 'cancelled', cut: true });
    const steps = timeline.bars.filter(({ lane }) => lane === 'step');
    expect(steps).toMatchObject([
      { state: 'backlog', fromPosition: first, toPosition: first! + 1 },
      { state: 'unknown', fromPosition: first! + 1, toPosition: third, reason: expect.stringContaining('checkpoint') },
      { state: 'cancelled', fromPosition: third },
    ]);
    expect(timeline.bars.every(({ toMs }) => toMs !== null)).toBe(true);
  });
});
