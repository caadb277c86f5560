/** Every event of a Goal as it should be, and bent in one respect at a time. */
import type { Basis } from '../../../machines/basis.ts';
import { stepSchema } from '../../../machines/basis.ts';
import type { GoalContext } from '../../../machines/goalContext.ts';
import { basisOf, candidate, emptyRound, type FittingType, fitting } from './goalEvidence.ts';
import type { Sample } from './table.ts';

type Change = object | ((context: GoalContext) => object);

const resolve = (change: Change, context: GoalContext): object =>
  typeof change === 'function' ? (change as (context: GoalContext) => object)(context) : change;

function sample(type: FittingType, facts: readonly string[] = [], change: Change = {}): Sample {
  return {
    type,
    facts,
    payload: (context: GoalContext) => ({ ...fitting[type](context), ...resolve(change, context) }),
  };
}

const withBasis =
  (rest: Partial<Record<keyof Basis, unknown>>, change: Change = {}) =>
  (context: GoalContext) => ({ basis: basisOf(context, rest), ...resolve(change, context) });

const later = ({ occurrence }: GoalContext) => ({ occurrence: occurrence.n + 1 });

/** A worker's event: current, of an earlier reading, without a basis, and under somebody else's claim. */
function fromWorker(type: FittingType, facts: readonly string[] = [], change: Change = {}): Sample[] {
  return [
    sample(type, facts, withBasis({}, change)),
    sample(type, [...facts, 'stale basis'], (context: GoalContext) => withBasis(later(context), change)(context)),
    sample(type, [...facts, 'no basis'], change),
    sample(type, [...facts, 'other claim'], withBasis({ claimId: 'CX' }, change)),
  ];
}

const ofAnotherGoal = (type: FittingType) => sample(type, ['stale basis', 'no own basis'], withBasis({ goalId: 'G9' }));

/** Only checked work produces a candidate in this story; before that there is none to lose. */
const producing = ({ status }: GoalContext) => (status === 'quality' || status === 'governance' ? { candidate } : {});

const receipts = (verdict: 'accepted' | 'failed', change: Change = {}, facts: readonly string[] = []) =>
  fromWorker(
    'receipt.recorded',
    verdict === 'failed' ? [...facts, 'failed verdict'] : facts,
    (context: GoalContext) => ({
      verdict,
      ...producing(context),
      ...resolve(change, context),
    }),
  );

/** For integration events: of the attempt in hand, and of another one. */
const ofAttempts = (type: FittingType): Sample[] => [
  sample(type),
  sample(type, ['other attempt'], { attemptId: 'AX' }),
];

const leases: readonly Sample[] = [
  ...fromWorker('integration.leased', ['other attempt']),
  sample('integration.leased', ['other attempt', 'other candidate'], withBasis({}, { candidate: 'else' })),
  sample(
    'integration.leased',
    [],
    withBasis({}, ({ integration }: GoalContext) => ({ attemptId: integration?.attemptId ?? 'A' })),
  ),
];

const decisions: readonly Sample[] = stepSchema.options.flatMap((to) => [
  sample('decision.stepSelected', [`to ${to}`], { to }),
  sample('decision.stepSelected', [`to ${to}`, 'stale revision'], { to, expectedRevision: 0 }),
]);

const imports: readonly Sample[] = [
  ...stepSchema.options.map((to) => sample('sync.workflowApplied', [`to ${to}`], { to })),
  ...stepSchema.options.map((to) =>
    sample('sync.workflowApplied', [`to ${to}`, 'not newer'], ({ occurrence }: GoalContext) => ({
      to,
      occurrence: occurrence.n,
      boundary: occurrence.n,
    })),
  ),
  ...(['backlog', 'todo', 'governance'] as const).map((to) =>
    sample('sync.workflowApplied', [`to ${to}`], ({ round }: GoalContext) => ({ to, round: round + 7 })),
  ),
  sample('sync.workflowApplied', ['to todo', 'not newer'], ({ occurrence }: GoalContext) => ({
    occurrence: occurrence.n + 1,
    boundary: occurrence.n + 2,
  })),
  sample('sync.cancelApplied'),
  sample('sync.cancelApplied', ['not newer'], ({ occurrence }: GoalContext) => ({ occurrence: occurrence.n })),
];

const byRevision = (type: FittingType, facts: readonly string[] = []): Sample[] => [
  sample(type, facts),
  sample(type, [...facts, 'stale revision'], { expectedRevision: 0 }),
];

const sameNode = ({ nodeId }: GoalContext) => ({ nodeId });

export const goalSamples: readonly Sample[] = [
  ...byRevision('round.authored'),
  sample('round.authored', ['empty request'], emptyRound),
  ...byRevision('goal.queued'),
  ...fromWorker('claim.recorded'),
  ...fromWorker('step.advanced'),
  sample('step.advanced', ['other step'], withBasis({}, { to: 'backlog' })),
  sample('step.advanced', ['names no verdict'], withBasis({}, { receiptIds: [] })),
  ...receipts('accepted'),
  ...receipts('failed'),
  sample('receipt.recorded', ['adopts nothing known'], withBasis({}, { reuseOf: 'VX' })),
  sample(
    'receipt.recorded',
    ['failed verdict', 'adopts nothing known'],
    withBasis({}, { verdict: 'failed', reuseOf: 'VX' }),
  ),
  sample('receipt.recorded', [], withBasis({}, { candidate: 'another candidate' })),
  ofAnotherGoal('receipt.recorded'),
  ...fromWorker('step.failed'),
  ofAnotherGoal('step.failed'),
  ...fromWorker('stop.settled'),
  ofAnotherGoal('stop.settled'),
  sample('execution.interrupted'),
  ...fromWorker('preparation.reproduced'),
  ...fromWorker('sideEffect.started'),
  sample('sideEffect.finished'),
  sample('sideEffect.finished', ['other effect'], { effectId: 'else' }),
  ...decisions,
  ...byRevision('goal.nodeAssigned', ['other node']),
  sample('goal.nodeAssigned', [], sameNode),
  sample('goal.cancelled'),
  ...byRevision('review.accepted'),
  ...byRevision('review.declined'),
  ...leases,
  ...fromWorker('integration.begun'),
  sample('integration.begun', ['other attempt'], withBasis({}, { attemptId: 'AX' })),
  ...fromWorker('publication.started'),
  sample('publication.started', ['other attempt'], withBasis({}, { attemptId: 'AX' })),
  ...(
    [
      'integration.released',
      'integration.localRecorded',
      'integration.notApplied',
      'publication.finished',
      'publication.failed',
    ] as const
  ).flatMap(ofAttempts),
  ...imports,
  sample('sync.nodeApplied', ['other node']),
  sample('sync.nodeApplied', [], sameNode),
  sample('sync.conflictRaised'),
  ...byRevision('sync.conflictResolved'),
];
