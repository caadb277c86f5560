/** Every question that the Goal chart asks: of the semantic record and of the event, and of nothing else (GOAL-01, I-42). */
import { assertEvent } from 'xstate';
import type { Basis, Step } from './basis.ts';
import { sha256 } from './canonical.ts';
import type { GoalContext, GoalEvent } from './goalContext.ts';

interface Question {
  readonly context: GoalContext;
  readonly event: GoalEvent;
}

/** A Round whose request file is empty asks for nothing. */
const emptyDigest = sha256('');

const isNonEmpty = (round: { readonly requestDigest: string; readonly requestRef: string }): boolean =>
  round.requestRef !== '' && round.requestDigest !== '' && round.requestDigest !== emptyDigest;

export const currentRound = ({ round, rounds }: Pick<GoalContext, 'round' | 'rounds'>) =>
  rounds.find(({ index }) => index === round);

/** Whether there is something to work on: an authored, non-empty current Round (GOAL-02). */
export function isAuthored(context: Pick<GoalContext, 'round' | 'rounds'>): boolean {
  const round = currentRound(context);
  return round !== undefined && isNonEmpty(round);
}

export type BasisField = 'goalId' | 'occurrence' | 'step' | 'nodeId' | 'round';

/** The first field in which a worker's belief differs from the record (OCC-03); undefined while it is current. */
export function supersededField(context: GoalContext, basis: Basis): BasisField | undefined {
  const current: Readonly<Record<BasisField, unknown>> = {
    goalId: context.goalId,
    occurrence: context.occurrence.n,
    step: context.status,
    nodeId: context.nodeId,
    round: context.round,
  };
  return (Object.keys(current) as BasisField[]).find((field) => basis[field] !== current[field]);
}

const successors: Partial<Record<string, Step>> = {
  todo: 'plan',
  plan: 'implement',
  implement: 'quality',
  quality: 'governance',
  governance: 'review',
};

const selects =
  (step: Step) =>
  ({ event }: Question): boolean => {
    assertEvent(event, ['decision.stepSelected', 'sync.workflowApplied']);
    return event.to === step;
  };

const workflowGuards = {
  requestNonEmpty: ({ event }: Question) => {
    assertEvent(event, 'round.authored');
    return isNonEmpty(event);
  },
  hasAuthoredRound: ({ context }: Question) => isAuthored(context),
  revisionExpected: ({ context, event }: Question) => {
    assertEvent(event, [
      'round.authored',
      'goal.queued',
      'decision.stepSelected',
      'goal.nodeAssigned',
      'review.accepted',
      'review.declined',
      'sync.conflictResolved',
    ]);
    return event.expectedRevision === context.revision;
  },
  selectsCurrentStep: ({ context, event }: Question) => {
    assertEvent(event, 'decision.stepSelected');
    return event.to === context.status;
  },
  selectsBacklog: selects('backlog'),
  selectsTodo: selects('todo'),
  selectsPlan: selects('plan'),
  selectsImplement: selects('implement'),
  selectsQuality: selects('quality'),
  selectsGovernance: selects('governance'),
  assignsOtherNode: ({ context, event }: Question) => {
    assertEvent(event, ['goal.nodeAssigned', 'sync.nodeApplied']);
    return event.nodeId !== context.nodeId;
  },
  /** An import that would number backwards, or draw a boundary ahead of its occurrence, is no newer record (I-05). */
  occurrenceNewer: ({ context, event }: Question) => {
    assertEvent(event, ['sync.workflowApplied', 'sync.cancelApplied']);
    return event.occurrence > context.occurrence.n && event.boundary <= event.occurrence;
  },
};

const workerGuards = {
  /** Whether a worker says at all which attempt at this Goal it speaks of (OCC-02). */
  hasBasis: ({ context, event }: Question) => event.basis?.goalId === context.goalId,
  basisCurrent: ({ context, event }: Question) =>
    event.basis !== undefined && supersededField(context, event.basis) === undefined,
  claimCurrent: ({ context, event }: Question) =>
    context.claim !== null && event.basis?.claimId === context.claim.claimId,
  isNextStep: ({ context, event }: Question) => {
    assertEvent(event, 'step.advanced');
    return event.to === successors[context.status];
  },
  /** The verdict is committed already, belongs to this occurrence, and was given on the inputs named (GOAL-08). */
  acceptedReceipt: ({ context, event }: Question) => {
    assertEvent(event, 'step.advanced');
    return context.receipts.some(
      (receipt) =>
        receipt.verdict === 'accepted' &&
        receipt.occurrence === context.occurrence.n &&
        receipt.inputsDigest === event.inputsDigest &&
        event.receiptIds.includes(receipt.receiptId),
    );
  },
  noVerdictYet: ({ context }: Question) =>
    !context.receipts.some(({ occurrence }) => occurrence === context.occurrence.n),
  verdictFailed: ({ event }: Question) => {
    assertEvent(event, 'receipt.recorded');
    return event.verdict === 'failed';
  },
  /** Adopted evidence has to be there, of this Round, and about the same inputs (GOAL-06, RCPT-06). */
  reuseSound: ({ context, event }: Question) => {
    assertEvent(event, 'receipt.recorded');
    if (event.reuseOf === undefined) return true;
    const late = context.late.flatMap(({ receipt, round }) => (receipt === null ? [] : [{ ...receipt, round }]));
    return [...context.receipts, ...late].some(
      (known) =>
        known.receiptId === event.reuseOf &&
        known.round === context.round &&
        known.kind === event.kind &&
        known.verdict === event.verdict &&
        known.inputsDigest === event.inputsDigest,
    );
  },
  effectOpen: ({ context, event }: Question) => {
    assertEvent(event, 'sideEffect.finished');
    return context.openEffects.some(({ effectId }) => effectId === event.effectId);
  },
};

const integrationGuards = {
  candidateExact: ({ context, event }: Question) => {
    assertEvent(event, 'integration.leased');
    return context.candidate !== null && event.candidate === context.candidate;
  },
  attemptMatches: ({ context, event }: Question) => {
    assertEvent(event, [
      'integration.leased',
      'integration.begun',
      'integration.released',
      'integration.localRecorded',
      'integration.notApplied',
      'publication.started',
      'publication.finished',
      'publication.failed',
    ]);
    return context.integration?.attemptId === event.attemptId;
  },
  /** A lease outlives its occurrence, say over a failed verdict; a beginning does not (I-11). */
  leaseCurrent: ({ context }: Question) => context.integration?.occurrence === context.occurrence.n,
  /** What was merged locally may be published by a later occurrence, as long as it is what that one wants (OCC-06). */
  attemptServesCandidate: ({ context }: Question) => servesCandidate(context),
  integrationMatchesCandidate: ({ context }: Question) =>
    context.integration?.complete === true && servesCandidate(context),
};

const servesCandidate = ({ integration, round, candidate }: GoalContext): boolean =>
  integration !== null && integration.round === round && integration.candidate === candidate;

export const goalGuards = { ...workflowGuards, ...workerGuards, ...integrationGuards };
