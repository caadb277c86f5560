/** The Goal (section C.1 and its amendments), as data. */
import { goalMachine } from '../../../machines/goal.ts';
import type { GoalContext } from '../../../machines/goalContext.ts';
import { emptyRound, goalInput } from '../support/goalEvidence.ts';
import { goalSamples } from '../support/goalSamples.ts';
import {
  and,
  type Facts,
  type GuardTerm,
  inState,
  not,
  or,
  row,
  type StateEntry,
  type Table,
} from '../support/table.ts';

const isExecuting = (status: string): boolean => ['plan', 'implement', 'quality', 'governance'].includes(status);

function factsOf(context: GoalContext): string[] {
  const { status, claim, receipts, occurrence, integration, round, rounds } = context;
  const verdict = receipts.find((receipt) => receipt.occurrence === occurrence.n);
  const serves = integration?.round === round && integration.candidate === context.candidate;
  return [
    `at ${status}`,
    isAuthored(context) ? 'authored' : '',
    rounds.length > 0 && !isAuthored(context) ? 'unknown round' : '',
    claim ? 'claimed' : '',
    verdict && isExecuting(status) ? `verdict ${verdict.verdict}` : '',
    context.candidate === null ? '' : 'candidate',
    integration ? 'attempt' : '',
    integration?.complete ? 'complete' : '',
    integration?.occurrence === occurrence.n ? 'lease of this occurrence' : '',
    integration && serves ? 'attempt for this candidate' : '',
    context.openEffects.length > 0 ? 'effect open' : '',
  ].filter((fact) => fact !== '');
}

const isAuthored = ({ round, rounds }: GoalContext): boolean =>
  rounds.some(({ index, requestDigest }) => index === round && requestDigest !== emptyRound.requestDigest);

/**
 * The walk keeps to a story: a candidate exists from quality on, an attempt is in hand in governance and little beyond,
 * and one thing at a time is out of the ordinary. Rows are played into situations beyond it, only not from there.
 */
function isBeyond(context: GoalContext): boolean {
  const { status, integration, occurrence } = context;
  const isLeased = integration !== null && integration.expectedTargetTip === null;
  const serves = integration?.round === context.round && integration.candidate === context.candidate;
  const oddities = [
    context.openEffects.length > 0,
    context.conflict !== null,
    !isAuthored(context),
    integration !== null && (!serves || (isLeased && integration.occurrence !== occurrence.n)),
    status === 'quality' && integration !== null,
    context.rounds.length > 2,
  ].filter(Boolean).length;
  const mayHaveCandidate = ['quality', 'governance', 'review', 'failed', 'done'].includes(status);
  const mayHaveAttempt =
    status === 'governance' ||
    ((status === 'review' || status === 'done') && integration?.complete) ||
    (status === 'quality' && !isLeased) ||
    ((status === 'failed' || status === 'plan') && isLeased);
  return (
    oddities > 1 ||
    (context.candidate !== null && !mayHaveCandidate) ||
    (integration !== null && !mayHaveAttempt) ||
    (status === 'failed' && context.candidate !== null && integration === null) ||
    (context.openEffects.length > 0 && status !== 'plan')
  );
}

const active = 'workflow.active';
const executing = `${active}.executing`;
const places: Readonly<Record<string, string>> = {
  Backlog: `${active}.backlog`,
  Todo: `${active}.todo`,
  Plan: `${executing}.plan`,
  Implement: `${executing}.implement`,
  Quality: `${executing}.quality`,
  Governance: `${executing}.governance`,
};
const steps = Object.keys(places);

const converged = inState('convergence.converged');
const inGovernance = inState(`${executing}.governance`);
const current: readonly GuardTerm[] = ['basisCurrent', converged];
const claimant: readonly GuardTerm[] = [...current, 'claimCurrent'];
const advancing: readonly GuardTerm[] = [...claimant, 'isNextStep', 'acceptedReceipt'];
const recording: readonly GuardTerm[] = [...claimant, 'noVerdictYet', 'reuseSound'];
const leasing: readonly GuardTerm[] = [...claimant, 'candidateExact', inGovernance];
const selecting: readonly GuardTerm[] = [not('selectsCurrentStep'), 'revisionExpected'];
const authoring: readonly GuardTerm[] = ['requestNonEmpty', 'revisionExpected'];
const reviewing: readonly GuardTerm[] = ['revisionExpected', converged];

const entered: StateEntry = { entry: ['enter'] };
const over: StateEntry = { ...entered, tags: ['terminal'] };

const workflowRows = [
  row('', 'receipt.recorded', { guards: ['hasBasis'], actions: ['recordLate'], ids: ['OCC-09'] }),
  row('', 'step.failed', { guards: ['hasBasis'], actions: ['recordLate'], ids: ['OCC-10'] }),
  row('', 'stop.settled', { guards: ['hasBasis'], actions: ['recordLate'], ids: ['STOP-02'] }),
  row('', 'sideEffect.finished', { guards: ['effectOpen'], actions: ['closeEffect'], ids: ['OCC-04'] }),
  row(active, 'round.authored', {
    guards: authoring,
    to: `${active}.todo`,
    actions: ['appendRound', 'supersede'],
    ids: ['RCPT-03'],
  }),
  row(active, 'decision.stepSelected', { guards: ['selectsCurrentStep'], actions: ['noop'], ids: ['SEL-01'] }),
  ...steps.map((step) =>
    row(active, 'decision.stepSelected', {
      guards: [...selecting, ...(step === 'Backlog' ? [] : ['hasAuthoredRound']), `selects${step}`],
      to: places[step] ?? '',
      actions: ['supersede'],
      ids: ['SEL-02'],
    }),
  ),
  row(active, 'goal.nodeAssigned', { guards: ['revisionExpected'], actions: ['assignNode'], ids: ['OCC-03'] }),
  row(active, 'goal.cancelled', { to: 'workflow.cancelled', actions: ['supersede'], ids: ['STOP-04'] }),
  row(active, 'execution.interrupted', { actions: ['recordLate'], ids: ['STOP-07'] }),
  ...steps.map((step) =>
    row(active, 'sync.workflowApplied', {
      guards: ['occurrenceNewer', `selects${step}`],
      to: places[step] ?? '',
      actions: ['applyRemote'],
      ids: ['SYNC-01'],
    }),
  ),
  row(active, 'sync.cancelApplied', {
    guards: ['occurrenceNewer'],
    to: 'workflow.cancelled',
    actions: ['applyRemote'],
    ids: ['SYNC-01'],
  }),
  row(active, 'sync.nodeApplied', { actions: ['applyRemoteNode'], ids: ['SYNC-02'] }),
  row(`${active}.backlog`, 'round.authored', { guards: authoring, actions: ['appendRound'], ids: ['GOAL-02'] }),
  row(`${active}.backlog`, 'goal.queued', {
    guards: ['hasAuthoredRound', 'revisionExpected'],
    to: `${active}.todo`,
    actions: ['nextOccurrence'],
    ids: ['GOAL-02'],
  }),
  row(`${active}.todo`, 'claim.recorded', { guards: current, actions: ['recordClaim'], ids: ['CLAIM-01'] }),
  row(`${active}.todo`, 'step.advanced', {
    guards: [...claimant, 'isNextStep', 'hasAuthoredRound'],
    to: `${executing}.plan`,
    actions: ['nextOccurrence'],
    ids: ['OCC-03'],
  }),
  row(executing, 'claim.recorded', { guards: current, actions: ['recordClaim'], ids: ['CLAIM-01'] }),
  row(executing, 'receipt.recorded', {
    guards: [...recording, 'verdictFailed'],
    to: `${active}.failed`,
    actions: ['recordReceipt', 'recordFailure'],
    ids: ['RCPT-03'],
  }),
  row(executing, 'receipt.recorded', { guards: recording, actions: ['recordReceipt'], ids: ['RCPT-06'] }),
  row(executing, 'receipt.recorded', { guards: ['hasBasis'], actions: ['recordLate'], ids: ['OCC-09'] }),
  row(executing, 'step.failed', {
    guards: claimant,
    to: `${active}.failed`,
    actions: ['recordFailure'],
    ids: ['OCC-03'],
  }),
  row(executing, 'step.failed', { guards: ['hasBasis'], actions: ['recordLate'], ids: ['OCC-10'] }),
  row(executing, 'stop.settled', {
    guards: current,
    to: `${active}.failed`,
    actions: ['recordFailure'],
    ids: ['STOP-02'],
  }),
  row(executing, 'stop.settled', { guards: ['hasBasis'], actions: ['recordLate'], ids: ['STOP-02'] }),
  row(executing, 'preparation.reproduced', {
    guards: [...claimant, 'hasAuthoredRound'],
    to: `${executing}.plan`,
    actions: ['recordReproduction', 'nextOccurrence'],
    ids: ['OCC-12'],
  }),
  row(executing, 'sideEffect.started', { guards: claimant, actions: ['openEffect'], ids: ['OCC-04', 'OCC-08'] }),
  ...['Plan', 'Implement', 'Quality'].map((step, index) =>
    row(places[step] ?? '', 'step.advanced', {
      guards: advancing,
      to: Object.values(places)[index + 3] ?? '',
      actions: ['nextOccurrence'],
      ids: ['GOAL-08', 'SEL-07'],
    }),
  ),
  row(`${executing}.governance`, 'step.advanced', {
    guards: [...advancing, 'integrationMatchesCandidate'],
    to: `${active}.review`,
    actions: ['nextOccurrence'],
    ids: ['GOAL-08'],
  }),
  row(`${active}.review`, 'review.accepted', {
    guards: reviewing,
    to: 'workflow.done',
    actions: ['nextOccurrence'],
    ids: ['SYNC-06'],
  }),
  row(`${active}.review`, 'review.declined', {
    guards: reviewing,
    to: `${active}.failed`,
    actions: ['nextOccurrence', 'recordFailure'],
    ids: ['SYNC-06'],
  }),
];

const anew: readonly GuardTerm[] = [...leasing, not('attemptMatches')];
const [, , ...afterTodo] = steps;
const selectsAway = or(
  'selectsBacklog',
  and('hasAuthoredRound', or('selectsTodo', ...afterTodo.slice(0, 3).map((step) => `selects${step}`))),
);
const leased = 'integration.leased';
/** A conflict drops the lease. */
const impliedByLease = ['in convergence.converged'];

const integrationRows = [
  row('integration.idle', leased, { guards: leasing, to: leased, actions: ['leaseIntegration'], ids: ['OCC-08'] }),
  row(leased, 'integration.begun', {
    guards: [...claimant, 'attemptMatches', 'leaseCurrent', inGovernance],
    to: 'integration.begun',
    actions: ['beginIntegration'],
    ids: ['STOP-05', 'OCC-08'],
    moot: impliedByLease,
  }),
  row(leased, 'integration.released', {
    guards: ['attemptMatches'],
    to: 'integration.idle',
    actions: ['dropLease'],
    ids: ['GOAL-07'],
  }),
  row(leased, leased, {
    guards: anew,
    to: leased,
    actions: ['dropLease', 'leaseIntegration'],
    ids: ['GOAL-07'],
    moot: impliedByLease,
  }),
  row(leased, 'goal.cancelled', { to: 'integration.idle', actions: ['dropLease'], ids: ['STOP-05'] }),
  row(leased, 'goal.nodeAssigned', {
    guards: ['revisionExpected', 'assignsOtherNode'],
    to: 'integration.idle',
    actions: ['dropLease'],
    ids: ['SYNC-03'],
  }),
  row(leased, 'sync.conflictRaised', { to: 'integration.idle', actions: ['dropLease'], ids: ['SYNC-06'] }),
  row(leased, 'sync.workflowApplied', {
    guards: ['occurrenceNewer', or(...steps.map((step) => `selects${step}`))],
    to: 'integration.idle',
    actions: ['dropLease'],
    ids: ['SYNC-01'],
  }),
  row(leased, 'sync.cancelApplied', {
    guards: ['occurrenceNewer'],
    to: 'integration.idle',
    actions: ['dropLease'],
    ids: ['STOP-05'],
  }),
  row(leased, 'sync.nodeApplied', {
    guards: ['assignsOtherNode'],
    to: 'integration.idle',
    actions: ['dropLease'],
    ids: ['SYNC-03'],
  }),
  row(leased, 'decision.stepSelected', {
    guards: [...selecting, selectsAway],
    to: 'integration.idle',
    actions: ['dropLease'],
    ids: ['SEL-02'],
  }),
  row(leased, 'round.authored', {
    guards: authoring,
    to: 'integration.idle',
    actions: ['dropLease'],
    ids: ['OCC-06'],
  }),
  row('integration.begun', 'integration.localRecorded', {
    guards: ['attemptMatches'],
    to: 'integration.localOnly',
    actions: ['recordLocal'],
    ids: ['OCC-07', 'STOP-06'],
  }),
  row('integration.begun', 'integration.notApplied', {
    guards: ['attemptMatches'],
    to: 'integration.idle',
    actions: ['dropLease'],
    ids: ['STOP-06'],
  }),
  row('integration.localOnly', 'publication.started', {
    guards: [...claimant, 'attemptMatches', 'attemptServesCandidate', inGovernance],
    to: 'integration.publishing',
    actions: ['startPublication'],
    ids: ['OCC-06', 'OCC-08'],
  }),
  ...['integration.localOnly', 'integration.complete'].map((from) =>
    row(from, leased, { guards: anew, to: leased, actions: ['leaseIntegration'], ids: ['OCC-06'] }),
  ),
  row('integration.publishing', 'publication.finished', {
    guards: ['attemptMatches'],
    to: 'integration.complete',
    actions: ['completeIntegration'],
    ids: ['OCC-07', 'STOP-06'],
  }),
  row('integration.publishing', 'publication.failed', {
    guards: ['attemptMatches'],
    to: 'integration.localOnly',
    actions: ['failPublication'],
    ids: ['OCC-07'],
  }),
  row('convergence.converged', 'sync.conflictRaised', {
    to: 'convergence.conflicted',
    actions: ['raiseConflict'],
    ids: ['SYNC-04'],
  }),
  row('convergence.conflicted', 'sync.conflictResolved', {
    guards: ['revisionExpected'],
    to: 'convergence.converged',
    actions: ['supersede', 'resolveConflict'],
    ids: ['SYNC-06'],
  }),
];

const isCurrent = (is: Facts): boolean => !is('stale basis') && !is('no basis');

export const goalTable: Table = {
  name: 'goal',
  machine: goalMachine,
  states: {
    '': { parallel: true },
    workflow: { initial: 'active' },
    [active]: { initial: 'backlog' },
    [executing]: { initial: 'plan' },
    ...Object.fromEntries(
      [...Object.values(places), `${active}.review`, `${active}.failed`].map((path) => [path, entered]),
    ),
    'workflow.done': over,
    'workflow.cancelled': over,
    integration: { initial: 'idle' },
    ...Object.fromEntries(
      ['idle', 'leased', 'begun', 'localOnly', 'publishing', 'complete'].map((state) => [`integration.${state}`, {}]),
    ),
    convergence: { initial: 'converged' },
    'convergence.converged': {},
    'convergence.conflicted': {},
  },
  rows: [...workflowRows, ...integrationRows],
  guards: {
    requestNonEmpty: (is) => !is('empty request'),
    hasAuthoredRound: (is) => is('authored'),
    revisionExpected: (is) => !is('stale revision'),
    selectsCurrentStep: (is) => [...steps, 'Review'].some((step) => isBoth(is, step)),
    ...Object.fromEntries(steps.map((step) => [`selects${step}`, (is: Facts) => is(`to ${step.toLowerCase()}`)])),
    assignsOtherNode: (is) => is('other node'),
    occurrenceNewer: (is) => !is('not newer'),
    hasBasis: (is) => !is('no basis') && !is('no own basis'),
    basisCurrent: isCurrent,
    claimCurrent: (is) => is('claimed') && !is('other claim') && !is('no basis'),
    isNextStep: (is) => !is('other step'),
    acceptedReceipt: (is) => is('verdict accepted') && !is('names no verdict'),
    noVerdictYet: (is) => !is('verdict accepted') && !is('verdict failed'),
    verdictFailed: (is) => is('failed verdict'),
    reuseSound: (is) => !is('adopts nothing known'),
    effectOpen: (is) => is('effect open') && !is('other effect'),
    candidateExact: (is) => is('candidate') && !is('other candidate'),
    attemptMatches: (is) => is('attempt') && !is('other attempt'),
    leaseCurrent: (is) => is('lease of this occurrence'),
    attemptServesCandidate: (is) => is('attempt for this candidate'),
    integrationMatchesCandidate: (is) => is('complete') && is('attempt for this candidate'),
  },
  factsOf,
  starts: [
    { name: 'with a Round', input: goalInput() },
    { name: 'without a Round', input: { ...goalInput(), round: undefined } },
    { name: 'with a Round that asks for nothing', input: goalInput({ round: emptyRound }) },
  ],
  samples: goalSamples,
  isBeyond,
};

function isBoth(is: Facts, step: string): boolean {
  return is(`to ${step.toLowerCase()}`) && is(`at ${step.toLowerCase()}`);
}
