/** One imagined Goal, and payloads that fit its record as it stands; every value satisfies the schemas. */
import type { Basis, Step } from '../../../machines/basis.ts';
import type { EventType, Payload } from '../../../machines/events/catalogue.ts';
import type { MachineEvent } from '../../../machines/events/envelope.ts';
import type { GoalContext } from '../../../machines/goalContext.ts';
import { digestOf } from './evidence.ts';

export const ourNode = 'N1';
export const otherNode = 'N2';
export const round = { requestDigest: digestOf('1'), requestRef: 'request' };
/** SHA-256 of nothing: a Round that asks for nothing. */
export const emptyRound = {
  requestDigest: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  requestRef: 'request',
};
export const inputs = digestOf('2');
export const commitOf = (letter: string): string => letter.repeat(40);
/** What the story's implementation produces. */
export const candidate = 'candidate';

export const goalInput = (rest: Partial<Payload<'goal.created'>> = {}): Payload<'goal.created'> =>
  ({
    goalId: 'G1',
    title: 'a goal',
    nodeId: ourNode,
    priority: 0,
    repoId: 'P1',
    round,
    ...rest,
  }) as Payload<'goal.created'>;

/** What a worker that has just read the Goal would send along. */
export const basisOf = (context: GoalContext, rest: Partial<Record<keyof Basis, unknown>> = {}): Basis =>
  ({
    goalId: context.goalId,
    occurrence: context.occurrence.n,
    step: context.status,
    nodeId: context.nodeId,
    round: context.round,
    claimId: context.claim?.claimId ?? null,
    ...rest,
  }) as Basis;

const after: Readonly<Record<string, Step>> = {
  todo: 'plan',
  plan: 'implement',
  implement: 'quality',
  quality: 'governance',
  governance: 'review',
};
export const nextStep = ({ status }: GoalContext): Step => after[status] ?? 'review';

const decided = (context: GoalContext) => ({ expectedRevision: context.revision, requestId: 'q', actor: 'operator' });
const attempt = ({ integration }: GoalContext) => ({ attemptId: integration?.attemptId ?? 'none' });

/** The payload of each event as a well-informed sender would fill it in. */
export const fitting = {
  'round.authored': (context) => ({ ...round, expectedRevision: context.revision, actor: 'operator' }),
  'goal.queued': (context) => ({ expectedRevision: context.revision, actor: 'operator' }),
  'claim.recorded': ({ revision }) => ({ claimId: `C${revision}`, incarnationTokenHash: digestOf('3') }),
  'step.advanced': (context) => ({
    to: nextStep(context),
    receiptIds: context.receipts.filter((r) => r.occurrence === context.occurrence.n).map((r) => r.receiptId),
    inputsDigest: inputs,
  }),
  'receipt.recorded': ({ revision }) => ({
    receiptId: `V${revision}`,
    kind: 'quality',
    verdict: 'accepted',
    inputsDigest: inputs,
    artifactDigests: [digestOf('4')],
  }),
  'step.failed': () => ({ failureClass: 'provider', reasonCode: 'timeout', evidenceRef: 'log' }),
  'stop.settled': () => ({ stopRequestId: 'q', endEvidence: 'e' }),
  'execution.interrupted': ({ goalId, occurrence }) => ({
    goalId,
    occurrence: occurrence.n,
    scopeId: 'S1',
    cause: 'crash',
  }),
  'preparation.reproduced': () => ({
    branch: 'again',
    baseCommit: commitOf('a'),
    reasonCode: 'refs_inconsistent',
    checks: ['quality'],
  }),
  'sideEffect.started': () => ({ effectId: 'effect', boundary: 'integration', claimDigest: digestOf('5') }),
  'sideEffect.finished': () => ({ effectId: 'effect', outcome: 'ok', evidenceRef: 'log' }),
  'decision.stepSelected': (context) => ({ to: 'todo', reason: '', ...decided(context) }),
  'goal.nodeAssigned': (context) => ({ nodeId: elsewhere(context), ...decided(context) }),
  'goal.cancelled': () => ({ requestId: 'q', actor: 'operator', reason: '' }),
  'review.accepted': decided,
  'review.declined': (context) => ({ reason: '', ...decided(context) }),
  'integration.leased': ({ integration, integrationHistory, candidate: current }) => ({
    attemptId: `A${integrationHistory.length}${integration === null ? '' : '+'}`,
    target: 'refs/heads/main',
    candidate: current ?? 'none',
  }),
  'integration.begun': (context) => ({ ...attempt(context), expectedTargetTip: commitOf('b') }),
  'integration.released': (context) => ({ ...attempt(context), reason: 'given_up' }),
  'integration.localRecorded': (context) => ({ ...attempt(context), targetCommit: commitOf('c'), pushed: false }),
  'integration.notApplied': (context) => ({ ...attempt(context), observedTip: commitOf('b') }),
  'publication.started': (context) => ({ ...attempt(context), ref: 'refs/heads/main', remote: 'origin' }),
  'publication.finished': (context) => ({ ...attempt(context), remoteCommit: commitOf('c') }),
  'publication.failed': (context) => ({ ...attempt(context), reasonCode: 'refused' }),
  'sync.workflowApplied': ({ occurrence, round: current, nodeId }) => ({
    to: 'todo',
    occurrence: occurrence.n + 1,
    boundary: occurrence.n + 1,
    round: current,
    nodeId,
    sourceDigest: digestOf('6'),
  }),
  'sync.nodeApplied': (context) => ({ nodeId: elsewhere(context), sourceDigest: digestOf('7') }),
  'sync.cancelApplied': ({ occurrence }) => ({
    occurrence: occurrence.n + 1,
    boundary: occurrence.n + 1,
    sourceDigest: digestOf('8'),
  }),
  'sync.conflictRaised': () => ({
    baseDigest: digestOf('9'),
    oursDigest: digestOf('a'),
    theirsDigest: digestOf('b'),
    fields: ['nodeId'],
  }),
  'sync.conflictResolved': (context) => ({ chosen: 'ours', ...decided(context) }),
} satisfies { readonly [Type in EventType]?: (context: GoalContext) => object };

export type FittingType = keyof typeof fitting;

const elsewhere = ({ nodeId }: GoalContext): string => (nodeId === ourNode ? otherNode : ourNode);

let sequence = 0;

/** An event with an id of its own and a current basis, changed by `rest`. */
export function goalEvent(type: FittingType, context: GoalContext, rest: object = {}): MachineEvent {
  sequence += 1;
  return { ...fitting[type](context), basis: basisOf(context), ...rest, type, eventId: `e${sequence}` };
}
