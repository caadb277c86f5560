/** Durable actors in an inspector of somebody's own test. */
import { createInspector, type StatelyInspectionEvent } from '@statelyai/inspect';
import { expect, it } from 'vitest';
import { attachInspector } from '../../../inspect/attach.ts';
import { hosted } from './support/hosted.ts';

it('shows what is there, then every event with the snapshot that it led to, until it is let go', async () => {
  const { host, addGoals, idOf } = hosted();
  await addGoals(0, 1);
  const told: StatelyInspectionEvent[] = [];
  const detach = attachInspector(host, createInspector({ send: (event) => void told.push(event) }));
  expect(told).toMatchObject([{ type: '@xstate.actor', sessionId: `goal/${idOf(0)}`, snapshot: { status: 'active' } }]);
  await addGoals(1, 2, 'another');
  expect(told.slice(1)).toMatchObject([
    { type: '@xstate.actor', sessionId: `goal/${idOf(1)}` },
    { type: '@xstate.event', event: { type: 'goal.created', title: 'another' }, sourceId: 'producer:test/test' },
    { type: '@xstate.snapshot', snapshot: { context: { title: 'another' } } },
  ]);
  detach();
  await addGoals(2, 3);
  expect(told).toHaveLength(4);
});
