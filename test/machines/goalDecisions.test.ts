import { describe, expect, it } from 'vitest';
import { type GoalSnapshot, goalDefinition } from '../../machines/goal.ts';
import type { GoalStatus } from '../../machines/goalContext.ts';
import { toPersisted } from '../../machines/step.ts';
import { basisOf, commitOf, emptyRound, type FittingType, otherNode } from './support/goalEvidence.ts';
import { claimed, goalAt, integrationAt, offer, tell } from './support/goalStory.ts';

const executing = ['plan', 'implement', 'quality', 'governance'] as const;
const steps = ['backlog', 'todo', ...executing] as const;
const living: readonly GoalStatus[] = [...steps, 'review', 'failed'];

const bytes = (snapshot: GoalSnapshot): string => JSON.stringify(toPersisted(goalDefinition, snapshot));

describe('stop', () => {
  it.each(executing)('STOP-02: fails a Goal in %s that is still what it was when the stop was asked for', (step) => {
    const before = claimed(step);
    const { context } = tell(before, 'stop.settled', { endEvidence: 'end' });
    expect(context).toMatchObject({
      ...{ status: 'failed', occurrence: before.context.occurrence },
      failure: { kind: 'stopped', evidence: 'end', occurrence: before.context.occurrence.n, step },
    });
  });

  it.each([
    ['occurrence', { occurrence: 99 }],
    ['status', { step: 'review' }],
    ['node', { nodeId: 'N9' }],
    ['Round', { round: 9 }],
  ] as const)('STOP-02: is only remembered once the %s has changed', (_, bend) => {
    for (const step of executing) {
      const before = claimed(step);
      const after = tell(before, 'stop.settled', { basis: basisOf(before.context, bend) });
      expect(after.value).toEqual(before.value);
      expect(after.context).toMatchObject({ failure: null, occurrence: before.context.occurrence });
      expect(after.context.late.at(-1)).toMatchObject({ type: 'stop.settled', reasonCode: 'stopped' });
    }
  });

  it('STOP-02: does not ask who holds the claim', () => {
    const before = goalAt('plan');
    const replaced = tell(tell(before, 'claim.recorded'), 'claim.recorded');
    expect(tell(replaced, 'stop.settled', { basis: basisOf(before.context) }).context.status).toBe('failed');
  });

  it.each(['crash', 'drain', 'replacement', 'reboot'])('STOP-07: an interruption by %s moves nothing', (cause) => {
    for (const status of living) {
      const before = goalAt(status);
      const after = tell(before, 'execution.interrupted', { cause });
      expect(after.value).toEqual(before.value);
      const { late, revision, revisedBy, ...rest } = after.context;
      expect(before.context).toMatchObject(rest);
      expect(late.at(-1)).toMatchObject({ reasonCode: cause });
    }
  });
});

describe('cancel', () => {
  it.each(living)('STOP-04: ends a Goal in %s, with a boundary of its own', (status) => {
    const before = goalAt(status);
    const n = before.context.occurrence.n + 1;
    expect(tell(before, 'goal.cancelled').context).toMatchObject({
      status: 'cancelled',
      occurrence: { n, boundary: n },
    });
  });

  it.each(['goal.cancelled', 'sync.cancelApplied'] as const)(
    'STOP-05: %s drops a lease, and nothing begins',
    (type) => {
      const leased = integrationAt('leased');
      const cancelled = tell(leased, type);
      expect(cancelled.value.integration).toBe('idle');
      expect(cancelled.context).toMatchObject({ integration: null, integrationHistory: [{ outcome: 'dropped' }] });
      const begun = { basis: basisOf(leased.context), attemptId: leased.context.integration?.attemptId };
      expect(offer(cancelled, 'integration.begun', { ...begun, expectedTargetTip: commitOf('b') }).change).toBe(
        'unmatched',
      );
    },
  );

  it('STOP-06 I-12: what has begun still reports, the outcome is kept, and nothing further starts', () => {
    const local = tell(tell(integrationAt('begun'), 'goal.cancelled'), 'integration.localRecorded');
    expect(local.context).toMatchObject({
      status: 'cancelled',
      integration: { targetCommit: commitOf('c'), complete: false },
    });
    expect(offer(local, 'publication.started').change).toBe('unmatched');
    const pushed = tell(tell(integrationAt('publishing'), 'goal.cancelled'), 'publication.finished');
    expect(pushed.context).toMatchObject({
      status: 'cancelled',
      integration: { remoteCommit: commitOf('c'), complete: true },
    });
  });

  it('OCC-04: an effect that was started before is recorded as finished afterwards', () => {
    const working = tell(tell(claimed('plan'), 'sideEffect.started'), 'goal.cancelled');
    const { context } = tell(working, 'sideEffect.finished');
    expect(context).toMatchObject({
      status: 'cancelled',
      openEffects: [],
      finishedEffects: [{ effectId: 'effect', outcome: 'ok' }],
    });
  });
});

describe('selecting a step', () => {
  it.each(steps)('SEL-01: the one that it is in changes nothing: %s', (step) => {
    for (const before of [goalAt(step), ...(step === 'governance' ? [integrationAt('leased')] : [])]) {
      for (const rest of [{}, { expectedRevision: 0 }]) {
        const { change, snapshot, effects } = offer(before, 'decision.stepSelected', { to: step, ...rest });
        expect(change).toBe('noop');
        expect(bytes(snapshot)).toBe(bytes(before));
        expect(effects).toEqual([]);
      }
    }
  });

  const pairs = living.flatMap((from) => steps.filter((to) => to !== from).map((to) => [from, to] as const));
  it.each(pairs)('SEL-02: from %s to %s is one decision with a new occurrence and boundary', (from, to) => {
    const before = at(from);
    const { snapshot, effects } = offer(before, 'decision.stepSelected', { to });
    const n = before.context.occurrence.n + 1;
    expect(snapshot.context).toMatchObject({ status: to, claim: null, failure: null, occurrence: { n, boundary: n } });
    expect(effects).toEqual([]);
    const stale = offer(before, 'decision.stepSelected', { to, expectedRevision: before.context.revision - 1 });
    expect([stale.change, stale.guards.includes('revisionExpected')]).toEqual(['unmatched', true]);
  });

  it('SEL-02: review is reached by work alone', () => {
    for (const status of living) {
      if (status === 'review') continue;
      expect(offer(goalAt(status), 'decision.stepSelected', { to: 'review' }).change).toBe('unmatched');
    }
  });

  it.each(['backlog', 'todo', 'plan', 'implement', 'quality'] as const)('SEL-02: %s drops the lease in hand', (to) => {
    expect(tell(integrationAt('leased'), 'decision.stepSelected', { to }).value.integration).toBe('idle');
  });
});

const at = (status: GoalStatus): GoalSnapshot =>
  ['backlog', 'review', 'failed'].includes(status) ? goalAt(status) : claimed(status);

describe('revisions', () => {
  const decisions: readonly FittingType[] = [
    'round.authored',
    'goal.nodeAssigned',
    'review.accepted',
    'review.declined',
  ];
  it.each(decisions)('SEL-02: %s on an older revision is refused', (type) => {
    const before = goalAt('review');
    expect(offer(before, type, { expectedRevision: before.context.revision - 1 }).guards).toEqual(['revisionExpected']);
    expect(tell(before, type).context.revision).toBe(before.context.revision + 1);
  });

  it('SEL-02: queueing on an older revision is refused as well', () => {
    const before = tell(goalAt('backlog'), 'round.authored');
    expect(offer(before, 'goal.queued', { expectedRevision: 1 }).guards).toEqual(['revisionExpected']);
    expect(tell(before, 'goal.queued').context).toMatchObject({ status: 'todo', round: 2 });
  });

  it('GOAL-02: a Round that asks for nothing is refused', () => {
    expect(offer(goalAt('plan'), 'round.authored', emptyRound).guards).toEqual(['requestNonEmpty']);
  });

  it('SYNC-03: assigning another node takes the lease along; assigning the same one is no change', () => {
    const leased = integrationAt('leased');
    const moved = tell(leased, 'goal.nodeAssigned', { nodeId: otherNode });
    expect(moved.context).toMatchObject({ nodeId: otherNode, integration: null });
    const same = offer(leased, 'goal.nodeAssigned', { nodeId: leased.context.nodeId });
    expect([same.change, bytes(same.snapshot)]).toEqual(['noop', bytes(leased)]);
    const basis = basisOf(leased.context);
    expect(offer(moved, 'claim.recorded', { basis }).guards).toEqual(['basisCurrent']);
  });
});

describe('what other nodes decided', () => {
  it('SYNC-01: a newer record is applied with its Round, node and numbers', () => {
    const before = claimed('quality');
    const { context } = tell(before, 'sync.workflowApplied', {
      to: 'plan',
      occurrence: 50,
      boundary: 40,
      nodeId: otherNode,
    });
    expect(context).toMatchObject({
      status: 'plan',
      occurrence: { n: 50, boundary: 40 },
      nodeId: otherNode,
      claim: null,
    });
  });

  it.each([
    ['as old as ours', { occurrence: 0 }],
    ['with a boundary ahead of its occurrence', { boundary: 999 }],
  ] as const)('I-05: one that is %s is refused', (_, bend) => {
    const before = goalAt('plan');
    for (const type of ['sync.workflowApplied', 'sync.cancelApplied'] as const)
      expect(offer(before, type, bend).guards).toContain('occurrenceNewer');
  });

  it('SYNC-02 SYNC-03: another node for it leaves the progress made here, and the worker here is out of date', () => {
    const before = claimed('implement');
    const after = tell(before, 'sync.nodeApplied');
    expect(after.value).toEqual(before.value);
    expect(after.context).toMatchObject({ nodeId: otherNode, occurrence: before.context.occurrence });
    expect(offer(after, 'sideEffect.started', { basis: basisOf(before.context) }).guards).toEqual(['basisCurrent']);
    const leased = integrationAt('leased');
    expect(tell(leased, 'sync.nodeApplied').value.integration).toBe('idle');
    expect(offer(leased, 'sync.nodeApplied', { nodeId: leased.context.nodeId }).change).toBe('noop');
  });

  it('I-05: a boundary of ours that is ahead stays', () => {
    const before = tell(goalAt('plan'), 'decision.stepSelected', { to: 'todo' });
    const { boundary } = before.context.occurrence;
    expect(tell(before, 'sync.workflowApplied', { boundary: 1 }).context.occurrence.boundary).toBe(boundary);
  });

  it('OCC-06: another Round takes the candidate away', () => {
    const before = integrationAt('idle');
    expect(tell(before, 'sync.workflowApplied', { to: 'governance', round: 7 }).context.candidate).toBeNull();
    expect(tell(before, 'sync.workflowApplied', { to: 'governance' }).context.candidate).toBe(before.context.candidate);
  });

  it('SYNC-04 SYNC-06: a conflict shows both sides and waits for a choice on the record as it is', () => {
    const before = integrationAt('leased');
    const conflicted = tell(before, 'sync.conflictRaised');
    expect(conflicted.value).toMatchObject({ convergence: 'conflicted', integration: 'idle' });
    expect(conflicted.context.conflict).toMatchObject({ fields: ['nodeId'] });
    expect(offer(conflicted, 'sync.conflictResolved', { expectedRevision: 0 }).guards).toEqual(['revisionExpected']);
    const resolved = tell(conflicted, 'sync.conflictResolved');
    const n = before.context.occurrence.n + 1;
    expect(resolved.context).toMatchObject({ conflict: null, status: 'governance', occurrence: { n, boundary: n } });
  });
});
