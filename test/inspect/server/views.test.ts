/** What the page is shown of a real Goal with a real run: actors, their past, messages, processes, a timeline. */
import { describe, expect, it } from 'vitest';
import type {
  ActorAnswer,
  FleetAnswer,
  JournalAnswer,
  MomentAnswer,
  PlacedChart,
  ProcessesAnswer,
  SequenceAnswer,
  TimelineAnswer,
} from '../../../inspect/server/contract.ts';
import { testDaemon } from '../../support/daemon.ts';
import { openPage, path } from './support/page.ts';

async function withRun() {
  const daemon = await testDaemon().start();
  const { goalId, generationId } = await daemon.goal();
  const { runId, scopeId } = await daemon.exec(goalId, 'exit 3', { label: 'a run' });
  await daemon.proved(runId);
  const page = await openPage(daemon);
  return { daemon, page, goalId, generationId, runId, scopeId: scopeId! };
}

describe('a run that is over', () => {
  it('stands in the fleet with everything that belongs to it', async () => {
    const { page, goalId, generationId, runId, scopeId } = await withRun();
    const fleet = await page.get<FleetAnswer>('/api/fleet');
    const row = (id: string) => fleet.actors.find((one) => one.id === id);
    expect(row(goalId)).toMatchObject({ kind: 'goal', status: 'active', label: 'a goal', goalId });
    expect(row(runId)).toMatchObject({ kind: 'run', status: 'released', label: 'a run', goalId, waits: null });
    expect(row(runId)?.state).toEqual(['lifecycle.ended', 'exitReport.absent']);
    expect(row(scopeId)).toMatchObject({ kind: 'executionScope', status: 'released', goalId });
    expect(row(generationId)).toMatchObject({ kind: 'worktreeGeneration', status: 'active', goalId });
    expect(row(generationId)?.waits).toMatch(/\w/);
    expect(fleet).toMatchObject({ complete: true, control: false, admission: 'open', omitted: 0 });
    expect(fleet.position).toBe(Math.max(...fleet.actors.map(({ position }) => position)));
    const actor = await page.get<ActorAnswer>(path('/api/actors/:kind/:id', { kind: 'run', id: runId }));
    expect(actor).toMatchObject({
      kind: 'run',
      id: runId,
      state: ['lifecycle.ended', 'exitReport.absent'],
      active: expect.arrayContaining(['run', 'run.lifecycle', 'run.lifecycle.ended']),
    });
    expect(actor.links).toEqual(
      expect.arrayContaining([
        { relation: 'goal', kind: 'goal', id: goalId },
        { relation: 'worktree', kind: 'worktreeGeneration', id: generationId },
        { relation: 'root scope', kind: 'executionScope', id: scopeId },
      ]),
    );
    expect(actor.evidence.map(({ name }) => name)).toContain('end');
    expect(actor.explanation.sentences.length).toBeGreaterThan(0);
    const first = await page.get<JournalAnswer>(`/api/actors/run/${runId}/journal?limit=1`);
    const second = await page.get<JournalAnswer>(`/api/actors/run/${runId}/journal?limit=1&before=${first.before}`);
    expect(second.events[0]!.position).toBeLessThan(first.events[0]!.position);
    expect(actor.journal.events.slice(0, 2)).toEqual([first.events[0], second.events[0]]);
    expect((await page.get<PlacedChart>('/api/charts/run')).chart.kind).toBe('run');
  });

  it('is shown at every moment of its past, and at the newest exactly as it is', async () => {
    const { daemon, page, goalId, runId, scopeId, generationId } = await withRun();
    const actors = [
      ['goal', goalId],
      ['run', runId],
      ['executionScope', scopeId],
      ['worktreeGeneration', generationId],
    ] as const;
    for (const [kind, id] of actors) {
      const now = await page.get<ActorAnswer>(path('/api/actors/:kind/:id', { kind, id }));
      const events = await daemon.events({ actor: id });
      expect(now.reach, kind).toMatchObject({ begins: 'creation', missing: 0, from: events[0]!.position });
      for (const event of events) {
        const moment = await page.get<MomentAnswer>(`/api/actors/${kind}/${id}/at?position=${event.position}`);
        if (!moment.known) throw new Error(moment.reason);
        expect(moment, `${kind} ${event.type}`).toMatchObject({
          position: event.position,
          version: event.version,
          provedAtHead: true,
        });
        expect(moment.event.eventId).toBe(event.eventId);
      }
      const head = await page.get<MomentAnswer>(`/api/actors/${kind}/${id}/at?position=${now.position}`);
      expect(head).toMatchObject({ known: true, next: null, version: now.version });
      for (const field of ['value', 'context', 'tags', 'status', 'state', 'active'] as const)
        expect(head, `${kind} ${field}`).toHaveProperty(field, now[field]);
      const early = await page.get<MomentAnswer>(`/api/actors/${kind}/${id}/at?position=${events[0]!.position - 1}`);
      expect(early).toMatchObject({ known: false, reason: expect.stringContaining('created later') });
    }
    const bound = await daemon.event({ actor: runId, type: 'identity.bound' });
    const halfWay = await page.get<MomentAnswer>(`/api/actors/run/${runId}/at?position=${bound.position}`);
    expect(halfWay).toMatchObject({
      known: true,
      state: ['lifecycle.bound', 'exitReport.absent'],
      changed: expect.arrayContaining(['identity', 'identityVersion']),
      transitions: [expect.stringMatching(/^run\.lifecycle\.reserved.*#identity\.bound#\d$/)],
    });
    const { chart } = await page.get<PlacedChart>('/api/charts/run');
    expect(chart.transitions.map(({ id }) => id)).toEqual(
      expect.arrayContaining([...(halfWay.known ? halfWay.transitions : [])]),
    );
  });

  it('is told as messages, each with what it follows from', async () => {
    const { daemon, page, goalId, runId, scopeId } = await withRun();
    const sequence = await page.get<SequenceAnswer>(`/api/sequence?goal=${goalId}&limit=500`);
    const relayed = sequence.messages.find(
      ({ type, to }) => type === 'workload.statusReceipt' && to === `run/${runId}`,
    );
    expect(relayed).toMatchObject({ from: `executionScope/${scopeId}`, relayed: true });
    const cause = await daemon.event({ actor: scopeId, type: 'workload.statusReceipt' });
    expect(relayed?.cause).toBe(cause.position);
    expect(sequence.parties.find(({ key }) => key === `run/${runId}`)).toMatchObject({ actor: true, label: 'a run' });
    expect(sequence.parties.some(({ actor }) => !actor)).toBe(true);
    const positions = sequence.messages.map(({ position }) => position);
    expect(positions).toEqual(positions.toSorted((one, other) => one - other));
    const newest = await page.get<SequenceAnswer>('/api/sequence?limit=3');
    expect(newest).toMatchObject({ moreBefore: true, moreAfter: false });
    expect(newest.messages).toHaveLength(3);
    const earlier = await page.get<SequenceAnswer>(`/api/sequence?limit=3&before=${newest.from}`);
    expect(earlier.to).toBeLessThan(newest.from);
    const later = await page.get<SequenceAnswer>(`/api/sequence?limit=3&after=${earlier.to}`);
    expect(later.messages).toEqual(newest.messages);
  });

  it('has its scope proved, and a bar in the life of its Goal', async () => {
    const { page, goalId, runId, scopeId } = await withRun();
    const { scopes } = await page.get<ProcessesAnswer>(`/api/processes/${scopeId}`);
    expect(scopes).toMatchObject([{ scopeId, members: [], missing: [], assessment: { state: 'exited' } }]);
    expect(scopes[0]?.receipts?.map(({ status }) => status)).toEqual(['authentic', 'authentic', 'authentic']);
    expect(scopes[0]?.proved.at(-1)).toMatch(/^Proved: its own exit receipt/);
    expect((await page.get<ProcessesAnswer>('/api/processes')).scopes).toEqual([]);
    expect((await page.get<ProcessesAnswer>('/api/processes?all=1')).scopes.map((one) => one.scopeId)).toContain(
      scopeId,
    );
    const timeline = await page.get<TimelineAnswer>(`/api/goals/${goalId}/timeline`);
    expect(timeline).toMatchObject({ goalId, title: 'a goal', cut: false });
    const runBars = timeline.bars.filter(({ actor }) => actor?.id === runId);
    expect(runBars.map(({ state }) => state)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^lifecycle\.reserved/), 'lifecycle.bound, exitReport.absent']),
    );
    expect(runBars.every(({ toMs }) => toMs !== null)).toBe(true);
    expect(timeline.bars.filter(({ lane }) => lane === 'step').map(({ state }) => state)).toContain('backlog');
    const waits = timeline.bars.filter(({ lane }) => lane === 'wait');
    expect(waits.length).toBeGreaterThan(0);
    expect(waits.every(({ reason }) => reason !== null)).toBe(true);
  });
});

describe('a run that goes on', () => {
  it('shows its tree as the kernel has it, and what a proof still lacks', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const { runId, scopeId, workloadPid } = await daemon.exec(goalId, 'sleep 600 & sleep 600');
    const page = await openPage(daemon);
    const { scopes } = await page.get<ProcessesAnswer>('/api/processes');
    const scope = scopes.find((one) => one.scopeId === scopeId);
    expect(scope).toMatchObject({ assessment: { state: 'live' }, workloadPid, runId });
    expect(scope?.members?.some(({ pid }) => pid === workloadPid)).toBe(true);
    expect(scope?.proved).toContain('Its guardian has written that it started.');
    await daemon.call('runs.stop', { id: runId });
  });
});

describe('an actor of which a checkpoint has removed events', () => {
  it('is shown as far as its events reach, and said to be cut from there on', async () => {
    const env = { CUSTODY_JOURNAL_NEWEST_EVENTS: '1', CUSTODY_JOURNAL_AGE_HOURS: '0' };
    const daemon = await testDaemon({ env }).start();
    const { goalId } = await daemon.goal();
    const { runId } = await daemon.exec(goalId, 'exit 0');
    await daemon.proved(runId);
    const { removed } = await daemon.call('journal.checkpoint', {});
    expect(removed.events).toBeGreaterThan(0);
    const page = await openPage(daemon);
    const { actors } = await page.get<FleetAnswer>('/api/fleet');
    const answers = await Promise.all(
      actors
        .filter(({ status }) => status === 'released')
        .map(({ kind, id }) => page.get<ActorAnswer>(path('/api/actors/:kind/:id', { kind, id }))),
    );
    const cut = answers.filter(({ reach }) => reach.missing > 0);
    expect(cut.length).toBeGreaterThan(0);
    for (const { kind, id, reach, position } of cut) {
      expect(reach.sentence).toContain('checkpoint');
      const head = await page.get<MomentAnswer>(`/api/actors/${kind}/${id}/at?position=${position}`);
      expect(head).toMatchObject({ known: false, reason: expect.stringContaining('removed') });
    }
  });
});
