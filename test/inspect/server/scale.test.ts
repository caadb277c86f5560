/** Ten thousand actors, and browsers that do not keep up with what is committed. */
import { describe, expect, it } from 'vitest';
import { draft } from '../../../actors/runtime/submission.ts';
import { Histories } from '../../../inspect/server/actors/history.ts';
import type { FleetAnswer, UpdateMessage } from '../../../inspect/server/contract.ts';
import { Fleet } from '../../../inspect/server/fleet/fleet.ts';
import { timelineOf } from '../../../inspect/server/timeline.ts';
import { goalInput } from '../../machines/support/goalEvidence.ts';
import { fleetPath, hosted } from './support/hosted.ts';
import { openUpdates } from './support/stream.ts';

const committed = (id: string) => (message: UpdateMessage) =>
  message.type === 'committed' && message.actors.some((row) => row.id === id);

describe('ten thousand actors', () => {
  it('are read in between other things, and are one answer then', async () => {
    const { addGoals, idOf, open, host } = hosted();
    await addGoals(0, 10_000);
    const page = await open();
    const updates = await openUpdates(page);
    // What is committed while they are read in is newer than what is read.
    await addGoals(10_000, 10_001, 'meanwhile');
    await updates.of('fleet.ready');
    const begunMs = performance.now();
    const { text } = await page.ask(fleetPath);
    const tookMs = performance.now() - begunMs;
    const fleet = JSON.parse(text) as FleetAnswer;
    expect(fleet).toMatchObject({ complete: true, omitted: 0 });
    expect(fleet.actors).toHaveLength(10_001);
    expect(new Set(fleet.actors.map(({ id }) => id)).size).toBe(10_001);
    expect(fleet.actors.find(({ id }) => id === idOf(10_000))).toMatchObject({ label: 'meanwhile' });
    expect(fleet.actors[0]).toMatchObject({ kind: 'goal', state: expect.any(Array), position: 1, version: 1 });
    // The figure is bench/inspect's; this only notices when every line is read from the store again.
    expect(tookMs).toBeLessThan(2_000);
    expect(host.snapshotOf('goal', idOf(9_999))).toBeDefined();
  });
});

describe('a browser that does not take what it is told', () => {
  it('misses what did not fit, is told so, and goes on with the present; the others miss nothing', async () => {
    const { addGoals, idOf, open } = hosted();
    const page = await open();
    const slow = await openUpdates(page);
    await slow.of('hello');
    const quick = await openUpdates(page);
    await quick.of('hello');
    slow.response.pause();
    let last = 0;
    // A kernel holds some megabytes for a connection of this machine; far more than that is committed.
    for (let round = 0; round < 10; round += 1) {
      await addGoals(last, last + 3_000, 'x'.repeat(200));
      last += 3_000;
      await quick.until(committed(idOf(last - 1)));
    }
    slow.response.resume();
    const { message } = await slow.of('gap');
    expect(message).toMatchObject({ reason: 'slow' });
    expect(message.from).toBeLessThan(message.position);
    const bytes = slow.told.reduce((sum, told) => sum + JSON.stringify(told.message).length, 0);
    const all = quick.told.reduce((sum, told) => sum + JSON.stringify(told.message).length, 0);
    expect(bytes).toBeLessThan(all);
    await addGoals(last, last + 1);
    await slow.until(committed(idOf(last)));
    expect(quick.told.map((told) => told.message.type)).not.toContain('gap');
  });
});

describe('the timeline of a long life', () => {
  /** Queued, and given to another node and back as often as that; each time its wait is another one. */
  async function wandering(moves: number) {
    const { daemon } = hosted();
    const { host, store } = daemon;
    const goalId = goalInput().goalId;
    const told = (type: 'goal.created' | 'goal.queued' | 'goal.nodeAssigned', payload: object) =>
      draft(type, { to: ['goal', goalId], payload: payload as never, by: 'test' });
    await host.submit([told('goal.created', goalInput({ nodeId: store.nodeId as never }))]);
    await host.submit([told('goal.queued', { expectedRevision: 1, actor: 'operator' })]);
    const moved = (n: number) => {
      const nodeId = n % 2 === 0 ? 'Nelsewhere' : store.nodeId;
      return told('goal.nodeAssigned', { nodeId, expectedRevision: n + 2, requestId: `q${n}`, actor: 'operator' });
    };
    for (let at = 0; at < moves; at += 200) {
      const outcomes = await host.submit(Array.from({ length: Math.min(200, moves - at) }, (_, n) => moved(at + n)));
      expect(outcomes.find(({ outcome }) => outcome !== 'changed')).toBeUndefined();
    }
    const histories = new Histories({
      store,
      headOf: (kind, id) => ({ snapshot: host.snapshotOf(kind, id)!, version: host.versionOf(kind, id)! }),
    });
    const fleet = new Fleet(store);
    await fleet.ready;
    return { goalId, histories, parts: { daemon, fleet, histories } };
  }

  it('has the newest thousand stretches and what lasts, and says how many it leaves out', async () => {
    const { goalId, parts } = await wandering(1_200);
    const { bars, omitted } = await timelineOf(parts, goalId);
    expect(bars).toHaveLength(1_000);
    expect(bars.filter(({ toMs }) => toMs === null).map(({ lane }) => lane)).toEqual(['step', 'wait']);
    expect(bars.at(-1)).toMatchObject({ lane: 'wait', toMs: null });
    // Each move ends a wait; before them it waited in the backlog, which is a step as well.
    expect(omitted).toEqual({ actors: 0, bars: 1_200 + 2 + 2 - 1_000 });
  });

  it('lets others have their turn while it is put together', async () => {
    const { goalId, histories, parts } = await wandering(4_200);
    await histories.of('goal', goalId);
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    const answer = timelineOf(parts, goalId);
    setImmediate(count);
    await answer;
    isDone = true;
    // Two thousand moments in a turn, for the steps and for the waits; one more for looking at the journal.
    expect(turns).toBeGreaterThanOrEqual(4);
  });
});
