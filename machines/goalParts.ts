/** Actions of the Goal; the chart itself stands in goal.ts. Each of them only writes down what has been decided. */
import { assertEvent, assign, setup } from 'xstate';
import type { Payload } from './events/catalogue.ts';
import type {
  GoalContext,
  GoalEvent,
  GoalFailure,
  GoalIntegration,
  GoalStatus,
  LateEvidence,
  PastIntegration,
} from './goalContext.ts';
import { goalGuards } from './goalGuards.ts';

const base = setup({
  types: { context: {} as GoalContext, events: {} as GoalEvent, input: {} as Payload<'goal.created'> },
  guards: goalGuards,
});

/** One revision per event, also where several regions act on it. */
const revised = ({ revision, revisedBy }: GoalContext, { eventId }: GoalEvent) =>
  revisedBy === eventId ? {} : { revision: revision + 1, revisedBy: eventId };

const originOf = ({ occurrence, status, round }: GoalContext, { eventId }: GoalEvent) => ({
  occurrence: occurrence.n,
  step: status,
  round,
  eventId,
});

/** What a new occurrence starts without. */
const fresh = { claim: null, failure: null };

function failureOf(context: GoalContext, event: GoalEvent): GoalFailure {
  assertEvent(event, ['receipt.recorded', 'step.failed', 'stop.settled', 'review.declined']);
  const origin = originOf(context, event);
  switch (event.type) {
    case 'receipt.recorded':
      return { ...origin, kind: 'verdict', reasonCode: null, evidence: event.receiptId };
    case 'step.failed':
      return { ...origin, kind: event.failureClass, reasonCode: event.reasonCode, evidence: event.evidenceRef };
    case 'stop.settled':
      return { ...origin, kind: 'stopped', reasonCode: null, evidence: event.endEvidence };
    case 'review.declined':
      return { ...origin, kind: 'declined', reasonCode: null, evidence: event.requestId };
  }
}

function lateOf(event: GoalEvent): LateEvidence {
  assertEvent(event, ['receipt.recorded', 'step.failed', 'stop.settled', 'execution.interrupted']);
  const { type, eventId, basis } = event;
  const origin = {
    type,
    eventId,
    occurrence: basis?.occurrence ?? ('occurrence' in event ? event.occurrence : 0),
    step: basis?.step ?? null,
    round: basis?.round ?? null,
    claimId: basis?.claimId ?? null,
  };
  switch (event.type) {
    case 'receipt.recorded':
      return { ...origin, receipt: payloadOf(event), reasonCode: null };
    case 'step.failed':
      return { ...origin, receipt: null, reasonCode: event.reasonCode };
    case 'stop.settled':
      return { ...origin, receipt: null, reasonCode: 'stopped' };
    case 'execution.interrupted':
      return { ...origin, receipt: null, reasonCode: event.cause };
  }
}

function payloadOf<Event extends GoalEvent>(event: Event): Omit<Event, 'type' | 'eventId' | 'basis'> {
  const { type: _type, eventId: _eventId, basis: _basis, ...payload } = event;
  return payload;
}

const moveToNode = base.assign(({ context, event }) => {
  assertEvent(event, ['goal.nodeAssigned', 'sync.nodeApplied']);
  return event.nodeId === context.nodeId ? {} : { ...revised(context, event), nodeId: event.nodeId };
});

const stepActions = {
  /** Runs on entry of every state of the workflow: the name under which a basis knows it. */
  enter: assign<GoalContext, GoalEvent, { readonly status: GoalStatus }, GoalEvent, never>((_, { status }) => ({
    status,
  })),
  appendRound: base.assign(({ context, event }) => {
    assertEvent(event, 'round.authored');
    const { requestDigest, requestRef } = event;
    const index = Math.max(context.round, context.rounds.at(-1)?.index ?? 0) + 1;
    return {
      ...revised(context, event),
      round: index,
      rounds: [...context.rounds, { index, requestDigest, requestRef }],
      candidate: null,
      preparation: null,
    };
  }),
  nextOccurrence: base.assign(({ context, event }) => ({
    ...revised(context, event),
    ...fresh,
    occurrence: { ...context.occurrence, n: context.occurrence.n + 1 },
  })),
  /** Whatever was launched for an earlier occurrence is obsolete from here on (SEL-02). */
  supersede: base.assign(({ context, event }) => {
    const n = context.occurrence.n + 1;
    return { ...revised(context, event), ...fresh, occurrence: { n, boundary: n } };
  }),
  assignNode: moveToNode,
  applyRemoteNode: moveToNode,
  applyRemote: base.assign(({ context, event }) => {
    assertEvent(event, ['sync.workflowApplied', 'sync.cancelApplied']);
    const occurrence = { n: event.occurrence, boundary: Math.max(context.occurrence.boundary, event.boundary) };
    const change = { ...revised(context, event), ...fresh, occurrence };
    if (event.type === 'sync.cancelApplied') return change;
    const isSameRound = event.round === context.round;
    return {
      ...change,
      round: event.round,
      nodeId: event.nodeId,
      candidate: isSameRound ? context.candidate : null,
      preparation: isSameRound ? context.preparation : null,
    };
  }),
  raiseConflict: base.assign(({ context, event }) => {
    assertEvent(event, 'sync.conflictRaised');
    return { ...revised(context, event), conflict: payloadOf(event) };
  }),
  resolveConflict: base.assign({ conflict: null }),
  noop: base.assign({}),
};

const evidenceActions = {
  recordClaim: base.assign(({ context, event }) => {
    assertEvent(event, 'claim.recorded');
    const claim = { ...originOf(context, event), ...payloadOf(event) };
    return { ...revised(context, event), claim, claims: [...context.claims, claim] };
  }),
  recordReceipt: base.assign(({ context, event }) => {
    assertEvent(event, 'receipt.recorded');
    const claimId = event.basis?.claimId ?? null;
    const receipt = { ...originOf(context, event), ...payloadOf(event), claimId };
    const isCandidate = event.verdict === 'accepted' && event.candidate !== undefined;
    return {
      ...revised(context, event),
      receipts: [...context.receipts, receipt],
      candidate: isCandidate ? (event.candidate ?? null) : context.candidate,
    };
  }),
  recordFailure: base.assign(({ context, event }) => ({
    ...revised(context, event),
    failure: failureOf(context, event),
  })),
  recordLate: base.assign(({ context, event }) => ({
    ...revised(context, event),
    late: [...context.late, lateOf(event)],
  })),
  /** The branch stays behind as history; what it produced is no candidate any more (OCC-12). */
  recordReproduction: base.assign(({ context, event }) => {
    assertEvent(event, 'preparation.reproduced');
    return {
      ...revised(context, event),
      preparation: { ...originOf(context, event), ...payloadOf(event) },
      candidate: null,
    };
  }),
  openEffect: base.assign(({ context, event }) => {
    assertEvent(event, 'sideEffect.started');
    const effect = { ...originOf(context, event), ...payloadOf(event) };
    return { ...revised(context, event), openEffects: [...context.openEffects, effect] };
  }),
  closeEffect: base.assign(({ context, event }) => {
    assertEvent(event, 'sideEffect.finished');
    const isFinished = ({ effectId }: { readonly effectId: string }) => effectId === event.effectId;
    const finished = context.openEffects.filter(isFinished).map((effect) => ({ ...effect, ...payloadOf(event) }));
    return {
      ...revised(context, event),
      openEffects: context.openEffects.filter((effect) => !isFinished(effect)),
      finishedEffects: [...context.finishedEffects, ...finished],
    };
  }),
};

/** What git was seen to hold about the attempt in hand. */
const observe = (context: GoalContext, event: GoalEvent, seen: Partial<GoalIntegration>) => ({
  ...revised(context, event),
  integration: context.integration === null ? null : { ...context.integration, ...seen },
});

const setAside = (context: GoalContext, event: GoalEvent, outcome: PastIntegration['outcome']) =>
  context.integration === null
    ? context.integrationHistory
    : [...context.integrationHistory, { ...context.integration, outcome, eventId: event.eventId }];

const integrationActions = {
  leaseIntegration: base.assign(({ context, event }) => {
    assertEvent(event, 'integration.leased');
    const { attemptId, target, candidate } = event;
    return {
      ...revised(context, event),
      integration: {
        ...{ attemptId, target, candidate, occurrence: context.occurrence.n, round: context.round },
        ...{ expectedTargetTip: null, targetCommit: null, remoteCommit: null, publicationFailure: null },
        complete: false,
      },
      integrationHistory: setAside(context, event, 'replaced'),
    };
  }),
  dropLease: base.assign(({ context, event }) => ({
    ...revised(context, event),
    integration: null,
    integrationHistory: setAside(context, event, event.type === 'integration.notApplied' ? 'not_applied' : 'dropped'),
  })),
  beginIntegration: base.assign(({ context, event }) => {
    assertEvent(event, 'integration.begun');
    return observe(context, event, { expectedTargetTip: event.expectedTargetTip });
  }),
  recordLocal: base.assign(({ context, event }) => {
    assertEvent(event, 'integration.localRecorded');
    return observe(context, event, { targetCommit: event.targetCommit });
  }),
  startPublication: base.assign(({ context, event }) => observe(context, event, { publicationFailure: null })),
  failPublication: base.assign(({ context, event }) => {
    assertEvent(event, 'publication.failed');
    return observe(context, event, { publicationFailure: event.reasonCode });
  }),
  completeIntegration: base.assign(({ context, event }) => {
    assertEvent(event, 'publication.finished');
    return observe(context, event, { remoteCommit: event.remoteCommit, complete: true });
  }),
};

export const goalSetup = base.extend({ actions: { ...stepActions, ...evidenceActions, ...integrationActions } });
