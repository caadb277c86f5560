import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalDigest } from '../../machines/canonical.ts';
import type { EventType } from '../../machines/events/catalogue.ts';
import { payloadSchemas, takersOf } from '../../machines/events/catalogue.ts';
import { type GoalSnapshot, goalDefinition, goalMachine } from '../../machines/goal.ts';
import type { GoalClaim, GoalContext, GoalStatus } from '../../machines/goalContext.ts';
import { goalEligibility, goalStatus } from '../../machines/goalEligibility.ts';
import { step } from '../../machines/step.ts';
import { basisOf, emptyRound, fitting, goalInput, otherNode, ourNode, round } from './support/goalEvidence.ts';
import { claimed, goalAt, integrationAt, newGoal, offer, play, plots, tell } from './support/goalStory.ts';

const statuses: readonly GoalStatus[] = [
  ...(['backlog', 'todo', 'plan', 'implement', 'quality', 'governance'] as const),
  ...(['review', 'failed', 'done', 'cancelled'] as const),
];
const actionable = ['todo', 'plan', 'implement', 'quality', 'governance'];

const withContext = (snapshot: GoalSnapshot, change: Partial<GoalContext>): GoalSnapshot =>
  ({ ...snapshot, context: { ...snapshot.context, ...change }, matches: snapshot.matches }) as GoalSnapshot;

const rounds = {
  none: { round: 0, rounds: [] },
  empty: { round: 1, rounds: [{ index: 1, ...emptyRound }] },
  authored: { round: 1, rounds: [{ index: 1, ...round }] },
  'not here yet': { round: 2, rounds: [{ index: 1, ...round }] },
} as const;

describe('GOAL-02: a node may schedule a Goal exactly when', () => {
  const cases = statuses.flatMap((status) =>
    [ourNode, otherNode].flatMap((node) =>
      [true, false].flatMap((isConverged) =>
        (Object.keys(rounds) as (keyof typeof rounds)[]).map((authored) => ({ status, node, isConverged, authored })),
      ),
    ),
  );

  it.each(cases)('$status, node $node, converged $isConverged, Round $authored', (one) => {
    const agreed = goalAt(one.status);
    const snapshot = withContext(one.isConverged ? agreed : tell(agreed, 'sync.conflictRaised'), rounds[one.authored]);
    const isEligible =
      actionable.includes(one.status) && one.node === ourNode && one.isConverged && one.authored === 'authored';
    const { eligible, reason } = goalEligibility(snapshot, one.node);
    expect(eligible).toBe(isEligible);
    expect(reason === 'eligible').toBe(isEligible);
    expect(goalStatus(snapshot)).toBe(one.status);
  });

  it('GOAL-02: the reasons are distinct, and the first one in a fixed order is given', () => {
    const plan = goalAt('plan');
    const reasons = [
      goalEligibility(goalAt('review'), otherNode),
      goalEligibility(tell(plan, 'sync.conflictRaised'), otherNode),
      goalEligibility(withContext(plan, rounds.none), otherNode),
      goalEligibility(withContext(plan, rounds.none), ourNode),
      goalEligibility(withContext(plan, rounds.empty), ourNode),
    ].map(({ reason }) => reason);
    expect(reasons).toEqual([
      'status_not_actionable',
      'conflicted',
      'assigned_to_other_node',
      'no_round',
      'empty_round',
    ]);
  });
});

describe('CLAIM-02: eligibility ignores claims', () => {
  const claim = { claimId: 'C9', incarnationTokenHash: '', occurrence: 1, step: 'plan', round: 1, eventId: 'e' };

  it.each(statuses)('at %s', (status) => {
    const snapshot = goalAt(status);
    const answers = [null, claim, { ...claim, claimId: 'C8' }].map((one) =>
      goalEligibility(withContext(snapshot, { claim: one as GoalClaim | null, claims: [] }), ourNode),
    );
    expect(new Set(answers.map(({ reason }) => reason)).size).toBe(1);
  });

  it('CLAIM-02: taking or replacing one changes nothing about it either', () => {
    const once = tell(goalAt('plan'), 'claim.recorded');
    const twice = tell(once, 'claim.recorded');
    expect(twice.context.claim).not.toEqual(once.context.claim);
    expect(goalEligibility(twice, ourNode)).toEqual(goalEligibility(goalAt('plan'), ourNode));
  });
});

describe('GOAL-01 I-42: the semantic plane does not hear the local one', () => {
  const types = (Object.keys(payloadSchemas) as EventType[]).filter((type) => !takersOf(type).includes('goal'));

  /** A local event that happens to carry everything that a Goal would look at. */
  const intrusive = (context: GoalContext) =>
    Object.assign({}, ...Object.values(fitting).map((make) => make(context)), { basis: basisOf(context) });

  it('GOAL-01: 10 000 local events leave the digest of a Goal as it was', () => {
    const places = [...statuses.map(goalAt), claimed('plan'), integrationAt('leased'), integrationAt('begun')];
    const rest = places.map(({ context }) => intrusive(context));
    const digests = places.map((snapshot) => canonicalDigest([snapshot.value, snapshot.context]));
    let offered = 0;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...types), fc.nat(places.length - 1)), { minLength: 100, maxLength: 100 }),
        (events) => {
          for (const [type, at] of events) {
            const before = places[at] as GoalSnapshot;
            offered += 1;
            const { snapshot, change } = step(goalMachine, before, { ...rest[at], type, eventId: `e${offered}` });
            expect(change === 'unmatched' && snapshot === before).toBe(true);
          }
        },
      ),
      { numRuns: 100 },
    );
    expect(offered).toBe(10_000);
    expect(places.map((snapshot) => canonicalDigest([snapshot.value, snapshot.context]))).toEqual(digests);
  });

  it('GOAL-01 SYNC-07: no local fact enters the record, not even the name of an interrupted scope', () => {
    const { context } = tell(goalAt('plan'), 'execution.interrupted', { scopeId: 'S-secret' });
    expect(JSON.stringify(context)).not.toContain('S-secret');
    expect(context.late.at(-1)).toMatchObject({ type: 'execution.interrupted', reasonCode: 'crash' });
  });
});

describe('ruling 14: a Goal is settled', () => {
  const isSettled = (snapshot: GoalSnapshot) => goalDefinition.isSettled(snapshot);

  it('only when it is over and nothing that has begun still has to report', () => {
    expect(isSettled(goalAt('review'))).toBe(false);
    expect(isSettled(goalAt('done'))).toBe(true);
    for (const state of ['begun', 'publishing'] as const) {
      const cancelled = tell(integrationAt(state), 'goal.cancelled');
      expect(isSettled(cancelled)).toBe(false);
      expect(isSettled(tell(cancelled, state === 'begun' ? 'integration.notApplied' : 'publication.failed'))).toBe(
        true,
      );
    }
    const working = tell(tell(claimed('plan'), 'sideEffect.started'), 'goal.cancelled');
    expect(isSettled(working)).toBe(false);
    expect(isSettled(tell(working, 'sideEffect.finished'))).toBe(true);
  });

  it('ruling 14: whatever is settled stays settled, whatever is said afterwards', () => {
    fc.assert(
      fc.property(plots, (plot) => {
        play(plot, ({ before, snapshot }) => {
          if (isSettled(before)) expect(isSettled(snapshot)).toBe(true);
        });
      }),
      { numRuns: 20 },
    );
  });
});

describe('ruling 11: the first Round', () => {
  it('comes with the creation and leaves the Goal in backlog; queueing is a step of its own', () => {
    const created = newGoal();
    expect(created.context).toMatchObject({ status: 'backlog', round: 1, occurrence: { n: 1, boundary: 1 } });
    expect(tell(created, 'goal.queued').context).toMatchObject({ status: 'todo', occurrence: { n: 2, boundary: 1 } });
  });

  it('may come later; in backlog it is added and supersedes nothing', () => {
    const { round: _, ...bare } = goalInput();
    const empty = newGoal({ ...bare, round: undefined });
    expect(offer(empty, 'goal.queued').guards).toEqual(['hasAuthoredRound']);
    const authored = tell(empty, 'round.authored');
    expect(authored.context).toMatchObject({ status: 'backlog', round: 1, occurrence: empty.context.occurrence });
    expect(tell(authored, 'round.authored').context.rounds.map(({ index }) => index)).toEqual([1, 2]);
  });

  it.each(statuses.filter((status) => !['backlog', 'done', 'cancelled'].includes(status)))(
    'from %s a new one supersedes to todo',
    (status) => {
      const before = goalAt(status);
      const { context } = tell(before, 'round.authored');
      const n = before.context.occurrence.n + 1;
      expect(context).toMatchObject({ status: 'todo', round: 2, occurrence: { n, boundary: n }, candidate: null });
    },
  );
});
