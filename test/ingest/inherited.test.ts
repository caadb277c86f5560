/** WT-04: a worktree that becomes known inherits every loss that may have been about it, however many there are. */
import { expect, it } from 'vitest';
import { closeGapsOfEarlierBoots } from '../../actors/ingest/coverage.ts';
import { createSystemClock } from '../../actors/observe/linux/clock.ts';
import { noting, reserve, testIntake } from './support/notes.ts';

const lost = 450;

it('more of them than one call may tell are told by one that stays open for as long', async () => {
  const { take, store, host, generations } = testIntake();
  const clock = createSystemClock();
  const bootId = clock.bootId();
  store.write(() => {
    for (let at = 0; at < lost; at += 1)
      store.coverageGaps.record({
        ...{ gapId: `g${at}`, producer: 'shell', kind: 'note_lost', fromWallMs: at, toWallMs: at + 1 },
        ...{ count: 2, bootId },
      });
  });
  expect(await take([noting()(reserve())])).toEqual(['changed']);
  const open = () => generations()[0]!.context.coverageGaps.open;
  expect(open()).toHaveLength(201);
  const summed = `inherited:${generations()[0]!.context.generationId}`;
  expect(open()).toContain(summed);
  expect(store.coverageGaps.find(summed)).toMatchObject({ count: 2 * (lost - 200), fromWallMs: 200, bootId });
  await closeGapsOfEarlierBoots({ host, store }, { bootId, wallMs: 1 });
  expect(open()).toHaveLength(201);
  await closeGapsOfEarlierBoots({ host, store }, { bootId: 'a later one', wallMs: 1 });
  expect(open()).toEqual([]);
});
