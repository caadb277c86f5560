/** What is said to a Goal: by a worker that is informed or out of date, by people, by git, and by other nodes. */
import type { SnapshotOf } from '../../../actors/runtime/actorAccess.ts';
import type { Basis, Step } from '../../../machines/basis.ts';
import type { GoalContext } from '../../../machines/goalContext.ts';
import { commitOf, digestOf } from '../evidence.ts';
import { one, regionOf } from '../facts.ts';
import { type Due, type Records, say, type Told, type Word } from '../model.ts';

type Goal = SnapshotOf['goal'];

const ourNode = 'N1';
const otherNode = 'N2';
const inputs = digestOf('2');
const emptyDigest = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

export const created = {
  goalId: 'G1',
  title: 'a goal',
  nodeId: ourNode,
  priority: 0,
  repoId: null,
  round: { requestDigest: digestOf('1'), requestRef: 'request' },
};

export const goalOf = (records: Records): Goal => one(records, 'goal', 'G1') as Goal;

/** What a worker that has just read the Goal would send along. */
export const basisOf = ({ goalId, occurrence, status, nodeId, round, claim }: GoalContext): Basis =>
  ({ goalId, occurrence: occurrence.n, step: status, nodeId, round, claimId: claim?.claimId ?? null }) as Basis;

interface Saying {
  readonly name: string;
  readonly by: string;
  readonly type: Told['type'];
  readonly payload: (context: GoalContext) => object;
  /** Absent for who needs none. */
  readonly basis?: (context: GoalContext) => Basis;
  readonly accepts?: (goal: Goal) => boolean;
}

/** Workers name a step of the work; a Goal that is over or has failed has none. */
const steps: readonly string[] = ['backlog', 'todo', 'plan', 'implement', 'quality', 'governance', 'review'];

function goalWord<T>({ name, by, type, payload, basis, accepts }: Saying): Word<T> {
  return {
    name,
    by,
    call: (records) => {
      const { context } = goalOf(records);
      if (basis !== undefined && !steps.includes(context.status)) return undefined;
      const told = say('G1', type, payload(context));
      return [basis === undefined ? told : { ...told, basis: basis(context) }];
    },
    ...(accepts === undefined ? {} : { due: dueBy(accepts) }),
  };
}

const dueBy =
  (accepts: (goal: Goal) => boolean) =>
  (records: Records): Due =>
    accepts(goalOf(records)) ? 'accepted' : 'refused';

const statusOf = ({ context }: Goal): string => context.status;
export const isConverged = (goal: Goal): boolean => regionOf(goal, 'convergence') === 'converged';
export const isActive = (goal: Goal): boolean => !['done', 'cancelled'].includes(statusOf(goal));
const isExecuting = (goal: Goal): boolean => ['plan', 'implement', 'quality', 'governance'].includes(statusOf(goal));
const isClaimed = ({ context }: Goal): boolean => context.claim !== null;
const isAuthored = ({ context }: Goal): boolean =>
  context.rounds.some(({ index, requestDigest }) => index === context.round && requestDigest !== emptyDigest);
const hasVerdict = ({ context }: Goal, verdict?: string): boolean =>
  context.receipts.some(
    (receipt) => receipt.occurrence === context.occurrence.n && (verdict === undefined || receipt.verdict === verdict),
  );

const successors: Readonly<Record<string, Step>> = {
  todo: 'plan',
  plan: 'implement',
  implement: 'quality',
  quality: 'governance',
  governance: 'review',
};

export const serves = ({ integration, round, candidate }: GoalContext): boolean =>
  integration !== null && integration.round === round && integration.candidate === candidate;

const receiptIdOf = ({ occurrence }: GoalContext): string => `V${occurrence.n}`;
const receipt =
  (verdict: string, rest: object = {}) =>
  (context: GoalContext) => ({
    receiptId: receiptIdOf(context),
    kind: 'quality',
    verdict,
    inputsDigest: inputs,
    artifactDigests: [],
    candidate: `candidate-${context.round}`,
    ...rest,
  });

const advance = (context: GoalContext, rest: object = {}) => ({
  to: successors[context.status] ?? 'review',
  receiptIds: [receiptIdOf(context)],
  inputsDigest: inputs,
  ...rest,
});

function mayAdvance(goal: Goal): boolean {
  if (!isConverged(goal) || !isClaimed(goal)) return false;
  if (statusOf(goal) === 'todo') return isAuthored(goal);
  if (!isExecuting(goal) || !hasVerdict(goal, 'accepted')) return false;
  const { integration } = goal.context;
  return statusOf(goal) !== 'governance' || (integration?.complete === true && serves(goal.context));
}

const recordable = (goal: Goal): boolean => isExecuting(goal) && isConverged(goal) && isClaimed(goal);

const informedWords: readonly Saying[] = [
  {
    ...{ name: 'claim recorded', by: 'worker', type: 'claim.recorded', basis: basisOf },
    payload: ({ occurrence }) => ({ claimId: `C${occurrence.n}`, incarnationTokenHash: digestOf('3') }),
    accepts: (goal) => isConverged(goal) && (statusOf(goal) === 'todo' || isExecuting(goal)),
  },
  {
    ...{ name: 'step advanced', by: 'worker', type: 'step.advanced', basis: basisOf },
    payload: (context) => advance(context),
    accepts: mayAdvance,
  },
  {
    ...{ name: 'step skipped', by: 'worker', type: 'step.advanced', basis: basisOf },
    payload: (context) => advance(context, { to: successors[successors[context.status] ?? ''] ?? 'backlog' }),
    accepts: () => false,
  },
  {
    ...{ name: 'step advanced on other inputs', by: 'worker', type: 'step.advanced', basis: basisOf },
    payload: (context) => advance(context, { inputsDigest: digestOf('9') }),
    accepts: (goal) => statusOf(goal) === 'todo' && mayAdvance(goal),
  },
  {
    ...{ name: 'verdict accepted', by: 'worker', type: 'receipt.recorded', basis: basisOf },
    payload: receipt('accepted'),
  },
  { ...{ name: 'verdict failed', by: 'worker', type: 'receipt.recorded', basis: basisOf }, payload: receipt('failed') },
  {
    ...{ name: 'verdict adopted from nowhere', by: 'worker', type: 'receipt.recorded', basis: basisOf },
    payload: receipt('accepted', { reuseOf: 'V99' }),
  },
  {
    ...{ name: 'step failed', by: 'worker', type: 'step.failed', basis: basisOf },
    payload: () => ({ failureClass: 'provider', reasonCode: 'timeout', evidenceRef: 'log' }),
  },
  {
    ...{ name: 'stop settled', by: 'worker', type: 'stop.settled', basis: basisOf },
    payload: () => ({ stopRequestId: 'q', endEvidence: 'e' }),
  },
  {
    ...{ name: 'preparation reproduced', by: 'worker', type: 'preparation.reproduced', basis: basisOf },
    payload: () => ({ branch: 'again', baseCommit: commitOf('a'), reasonCode: 'refs_inconsistent', checks: [] }),
    accepts: (goal) => recordable(goal) && isAuthored(goal),
  },
  {
    ...{ name: 'side effect started', by: 'worker', type: 'sideEffect.started', basis: basisOf },
    payload: () => ({ effectId: 'effect', boundary: 'integration', claimDigest: digestOf('5') }),
    accepts: recordable,
  },
  {
    ...{ name: 'side effect finished', by: 'worker', type: 'sideEffect.finished' },
    payload: () => ({ effectId: 'effect', outcome: 'ok', evidenceRef: 'log' }),
    accepts: ({ context }) => context.openEffects.length > 0,
  },
];

/** One field of the belief is not so any more (OCC-03). */
const bent: Readonly<Record<string, (context: GoalContext) => object>> = {
  'of another Goal': () => ({ goalId: 'G9' }),
  'of an earlier occurrence': ({ occurrence }) => ({ occurrence: occurrence.n + 7 }),
  'of another step': ({ status }) => ({ step: status === 'review' ? 'plan' : 'review' }),
  'of another node': () => ({ nodeId: 'N9' }),
  'of another Round': ({ round }) => ({ round: round + 7 }),
  'of another claim': () => ({ claimId: 'C99' }),
};

const outdatedWords: readonly Saying[] = Object.entries(bent).flatMap(([what, bend]): Saying[] => {
  const basis = (context: GoalContext): Basis => ({ ...basisOf(context), ...bend(context) }) as Basis;
  const by = 'outdated worker';
  const refused = () => false;
  // Of which attempt at this Goal it speaks has to be said; what is said of another is not even kept as late.
  const unkept = what === 'of another Goal' ? { accepts: refused } : {};
  return [
    {
      name: `step advanced by a worker ${what}`,
      by,
      type: 'step.advanced',
      basis,
      payload: (context) => advance(context),
      accepts: refused,
    },
    {
      name: `step failed by a worker ${what}`,
      by,
      type: 'step.failed',
      basis,
      payload: () => ({ failureClass: 'provider', reasonCode: 'timeout', evidenceRef: 'log' }),
      ...unkept,
    },
    {
      name: `verdict of a worker ${what}`,
      by,
      type: 'receipt.recorded',
      basis,
      payload: receipt('accepted'),
      ...unkept,
    },
  ];
});

type Decision = 'current' | 'stale';
/** Two people who have the Goal before them: one has seen its last change. */
const seen = ({ revision }: GoalContext, view: Decision): number => (view === 'current' ? revision : revision + 7);

function decision(name: string, saying: Pick<Saying, 'type' | 'payload' | 'accepts'>): readonly Saying[] {
  const { accepts = () => true } = saying;
  return (['current', 'stale'] as const).map((view) => ({
    ...saying,
    name: view === 'current' ? name : `${name}, out of date`,
    by: view === 'current' ? 'operator' : 'another operator',
    payload: (context) => ({ ...saying.payload(context), expectedRevision: seen(context, view) }),
    accepts: (goal) => view === 'current' && accepts(goal),
  }));
}

const asked = { requestId: 'q', actor: 'operator' };
const selectable = ['backlog', 'todo', 'plan', 'implement', 'quality', 'governance'] as const;

const peopleWords: readonly Saying[] = [
  // Review is reached by integrating, and by nothing that anybody says.
  ...decision('review selected', {
    type: 'decision.stepSelected',
    payload: () => ({ to: 'review', reason: '', ...asked }),
    accepts: () => false,
  }).map((saying): Saying => ({ ...saying, accepts: (goal) => statusOf(goal) === 'review' })),
  ...decision('Round authored', {
    type: 'round.authored',
    payload: ({ round }) => ({ requestDigest: digestOf(String(round % 10)), requestRef: 'request', actor: 'operator' }),
    accepts: isActive,
  }),
  ...decision('empty Round authored', {
    type: 'round.authored',
    payload: () => ({ requestDigest: emptyDigest, requestRef: 'request', actor: 'operator' }),
    accepts: () => false,
  }),
  ...decision('queued', {
    type: 'goal.queued',
    payload: () => ({ actor: 'operator' }),
    accepts: (goal) => statusOf(goal) === 'backlog' && isAuthored(goal),
  }),
  ...selectable.flatMap((to) =>
    decision(`${to} selected`, { type: 'decision.stepSelected', payload: () => ({ to, reason: '', ...asked }) }).map(
      (saying): Saying => ({
        ...saying,
        accepts: (goal) =>
          isActive(goal) &&
          (statusOf(goal) === to || (!saying.name.includes('out of date') && (to === 'backlog' || isAuthored(goal)))),
      }),
    ),
  ),
  ...decision('assigned to the other node', {
    type: 'goal.nodeAssigned',
    payload: ({ nodeId }) => ({ nodeId: nodeId === ourNode ? otherNode : ourNode, ...asked }),
    accepts: isActive,
  }),
  ...decision('assigned to its own node', {
    type: 'goal.nodeAssigned',
    payload: ({ nodeId }) => ({ nodeId, ...asked }),
    accepts: isActive,
  }),
  ...decision('accepted in review', {
    type: 'review.accepted',
    payload: () => asked,
    accepts: (goal) => statusOf(goal) === 'review' && isConverged(goal),
  }),
  ...decision('declined in review', {
    type: 'review.declined',
    payload: () => ({ reason: '', ...asked }),
    accepts: (goal) => statusOf(goal) === 'review' && isConverged(goal),
  }),
  ...decision('conflict resolved', {
    type: 'sync.conflictResolved',
    payload: () => ({ chosen: 'ours', ...asked }),
    accepts: (goal) => !isConverged(goal),
  }),
  { name: 'cancelled', by: 'operator', type: 'goal.cancelled', payload: () => ({ ...asked, reason: '' }) },
];

const otherNodeWords: readonly Saying[] = [
  {
    ...{ name: 'another node says review', by: 'another node', type: 'sync.workflowApplied' },
    payload: ({ occurrence, round, nodeId }) => {
      const n = occurrence.n + 1;
      return { to: 'review', occurrence: n, boundary: n, round, nodeId, sourceDigest: digestOf('6') };
    },
    accepts: () => false,
  },
  ...selectable.flatMap((to): Saying[] =>
    [
      { what: '', n: 1, b: 1 },
      { what: ', which is old', n: 0, b: 0 },
      { what: ', with a boundary ahead', n: 1, b: 2 },
    ].map(({ what, n, b }) => ({
      name: `another node says ${to}${what}`,
      by: 'another node',
      type: 'sync.workflowApplied',
      payload: ({ occurrence, round, nodeId }) => ({
        ...{ to, occurrence: occurrence.n + n, boundary: occurrence.n + b, round, nodeId, sourceDigest: digestOf('6') },
      }),
      accepts: (goal) => what === '' && isActive(goal),
    })),
  ),
  {
    ...{ name: 'another node assigns', by: 'another node', type: 'sync.nodeApplied' },
    payload: ({ nodeId }) => ({ nodeId: nodeId === ourNode ? otherNode : ourNode, sourceDigest: digestOf('7') }),
    accepts: isActive,
  },
  {
    ...{ name: 'another node confirms the node', by: 'another node', type: 'sync.nodeApplied' },
    payload: ({ nodeId }) => ({ nodeId, sourceDigest: digestOf('7') }),
    accepts: isActive,
  },
  {
    ...{ name: 'another node cancels', by: 'another node', type: 'sync.cancelApplied' },
    payload: ({ occurrence }) => ({
      occurrence: occurrence.n + 1,
      boundary: occurrence.n + 1,
      sourceDigest: digestOf('8'),
    }),
  },
  {
    ...{ name: 'the nodes contradict each other', by: 'another node', type: 'sync.conflictRaised' },
    payload: () => ({
      baseDigest: digestOf('9'),
      oursDigest: digestOf('a'),
      theirsDigest: digestOf('b'),
      fields: ['nodeId'],
    }),
  },
];

export const goalWords = <T>(): readonly Word<T>[] =>
  [...informedWords, ...outdatedWords, ...peopleWords, ...otherNodeWords].map((saying) => goalWord<T>(saying));

export const goalWordOf = <T>(saying: Saying): Word<T> => goalWord<T>(saying);
