/** Ten thousand actors, and browsers that do not keep up with what is committed. */
import { describe, expect, it } from 'vitest';
import type { FleetAnswer, UpdateMessage } from '../../../inspect/server/contract.ts';
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
