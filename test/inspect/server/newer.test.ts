/** What a newer program has written: it is said to be that, nothing is concluded from it, and nobody else is affected. */
import { describe, expect, it } from 'vitest';
import type { HostedEnvelope } from '../../../actors/host/outcome.ts';
import { draft } from '../../../actors/runtime/submission.ts';
import type { FleetAnswer, MomentAnswer, TimelineAnswer } from '../../../inspect/server/contract.ts';
import type { Store } from '../../../persistence/store.ts';
import { goalInput } from '../../machines/support/goalEvidence.ts';
import { hostOf } from '../../persistence/support/history.ts';
import { eventually } from '../../support/eventually.ts';
import { hosted } from './support/hosted.ts';

/** Moves a Goal on as a program would whose charts are newer, and whose rows may look otherwise. */
function writeAsNewer(store: Store, id: string, { snapshot }: { readonly snapshot: object }): number {
  const row = store.actors.read({ kind: 'goal', id })!;
  const version = row.version + 1;
  const position = store.journal.lastPosition() + 1;
  const last = store.journal.page({ actor: { kind: 'goal', id }, newestFirst: true, limit: 1 })[0]!;
  if (!last.intact) throw new Error('the journal is damaged');
  const envelope = { ...(last.envelope as HostedEnvelope), type: 'goal.sharpened', eventId: 'Esharpened', payload: {} };
  store.write(() => {
    store.actors.update({ ...row, version, definitionVersion: 999, snapshot: JSON.stringify(snapshot) });
    const { type, eventId } = envelope;
    const entry = { position, actorKey: row.key, eventId, type, outcome: 'changed' as const, version };
    store.journal.insert({ ...entry, envelope: JSON.stringify(envelope) });
  });
  return position;
}

describe('a record of a newer chart', () => {
  it.each([
    ['like ours', { value: { workflow: 'sharpened' }, context: { title: 'newer', status: 'sharpened' } }],
    ['like nothing that is known', { states: ['sharpened'] }],
  ])('whose row looks %s is shown as that, beside the others', async (_, snapshot) => {
    const { addGoals, open, store, host } = hosted();
    await addGoals(0, 1);
    const { goalId: id } = goalInput();
    const payload = goalInput({ nodeId: store.nodeId as never });
    await host.submit([draft('goal.created', { to: ['goal', id], payload, by: 'test' })]);
    const before = store.journal.lastPosition();
    const position = writeAsNewer(store, id, { snapshot });
    const page = await open({ daemon: { host: hostOf(store) } });
    const fleet = await eventually('everybody read in', async () => {
      const answer = await page.get<FleetAnswer>('/api/fleet');
      return answer.complete ? answer : undefined;
    });
    expect(fleet.actors.map(({ status }) => status)).toEqual(['active', 'corrupt']);
    expect(fleet.actors[1]).toMatchObject({
      id,
      state: [],
      label: null,
      waits: expect.stringContaining('version 999'),
    });

    const actor = await page.ask(`/api/actors/goal/${id}`);
    expect([actor.status, JSON.parse(actor.text).error]).toEqual([
      409,
      {
        code: 'record_corrupt',
        message: expect.stringContaining('definition newer'),
        next: ['start the newer program version'],
      },
    ]);

    const at = (position: number) => page.get<MomentAnswer>(`/api/actors/goal/${id}/at?position=${position}`);
    expect(await at(before)).toMatchObject({ known: true, provedAtHead: false });
    expect(await at(position)).toMatchObject({ known: false, reason: expect.stringContaining('by a newer one') });
    expect((await at(position)).reach.sentence).toContain(`from position ${position} on, nothing is known`);

    const timeline = await page.get<TimelineAnswer>(`/api/goals/${id}/timeline`);
    expect(timeline).toMatchObject({ status: 'unknown', cut: true });
    expect(timeline.bars.every(({ toMs }) => toMs !== null)).toBe(true);
    expect(timeline.bars.filter(({ lane }) => lane === 'step').map(({ state }) => state)).toEqual([
      'backlog',
      'unknown',
    ]);
  });
});
