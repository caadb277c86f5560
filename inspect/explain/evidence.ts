/**
 * Every event as a piece of evidence: what it is in words, and who can supply it. The record of types makes a new event
 * without such a line a compile error. What the charts take and nothing in this version brings has no supplier, and a
 * person is one only by a command; tests hold both to the program.
 */
import type { EventType } from '../../machines/events/catalogue.ts';

export interface Evidence {
  /** A noun phrase. */
  readonly what: string;
  /** Null where nothing in this version brings it. */
  readonly supplier: string | null;
}

type Line = readonly [what: string, supplier: string | null];

const operator = 'an operator';
const claimant = 'the worker that holds the claim';
const worker = 'the scheduling worker, for a check that is configured';
const launcher = 'the launch coordinator of the daemon';
const receipts = 'its guardian, whose receipt the daemon reads';
const looks = 'the daemon, which looks at the process';
const drain = 'the drain executor of the daemon, with the guardian';
const relay = 'its scope, in the commit that settles it';
const holder = 'the process that holds the terminal';
const agent = 'the agent itself (custody agent)';
const recovery = 'the recovery of the daemon';
const foreign = 'the launcher that started it, through its notes';
const clock = 'the clock of the daemon';

const goal = {
  'goal.created': ['its creation', `${operator} (custody goals add)`],
  'round.authored': ['a request, as a new Round', null],
  'goal.queued': ['the decision to queue it', `${operator} (custody goals queue)`],
  'claim.recorded': ['the claim of a worker', worker],
  'step.advanced': ['the step out of the queue', worker],
  'receipt.recorded': ['a receipt with the verdict on this step', claimant],
  'step.failed': ['word that the step could not be done', claimant],
  'stop.settled': ['proof that what was asked to stop has ended', claimant],
  'execution.interrupted': ['word that its execution was cut off', 'the daemon'],
  'preparation.reproduced': ['word that the preparation was done anew on another branch', null],
  'sideEffect.started': ['the beginning of a side effect', null],
  'sideEffect.finished': ['the outcome of a side effect', null],
  'decision.stepSelected': ['the decision that it is in another step', null],
  'goal.nodeAssigned': ['the decision that another node does it', null],
  'goal.cancelled': ['the decision to give it up', `${operator} (custody goals cancel)`],
  'review.accepted': ['the acceptance', null],
  'review.declined': ['the refusal', null],
  'integration.leased': ['the lease of an integration target', null],
  'integration.begun': ['the beginning of the merge', null],
  'integration.released': ['the end of the lease', null],
  'integration.localRecorded': ['the merge commit, as git holds it here', null],
  'integration.notApplied': ['a look at git that finds no merge', null],
  'publication.started': ['the beginning of the push', null],
  'publication.finished': ['the merge commit, as the remote holds it', null],
  'publication.failed': ['the refusal of the push', null],
  'sync.workflowApplied': ['a newer decision of another node', null],
  'sync.nodeApplied': ['an assignment by another node', null],
  'sync.cancelApplied': ['a cancellation by another node', null],
  'sync.conflictRaised': ['a contradiction between two nodes', null],
  'sync.conflictResolved': ['the choice between the two decisions', null],
} as const;

const run = {
  'run.reserved': ['the reservation', 'whoever launches it'],
  'reservation.reported': ['the reservation that was missing', foreign],
  'run.placed': ['the worktree that it is in', foreign],
  'identity.bound': ['the verified identity of its process', 'the entry point that became the process'],
  'admission.uncertain': ['word that nobody can say whether it began', launcher],
  'admission.cancelled': ['proof that its gate never opened', launcher],
  'process.observed': ['a look at its process', looks],
  'exit.reported': ['a claim of its launcher that it ended', foreign],
  'workload.statusReceipt': ['an authentic receipt with the wait status of the root', receipts],
  'scope.exitProved': ['proof that nobody of the tree remains', relay],
} as const;

const generation = {
  'generation.registered': ['its registration', 'whoever made or found the directory'],
  'run.admitted': ['the admission of a run', launcher],
  'run.noted': ['note of a run that somebody else started', foreign],
  'run.settled': ['the end of a run', 'that run, in the commit that ends it'],
  'scope.opened': ['a scope in which somebody may write', launcher],
  'scope.settled': ['proof that a scope is empty', 'that scope, in the commit that proves it'],
  'admission.closed': ['the decision that nobody new comes in', `${operator} (custody worktrees close)`],
  'seal.requested': ['the request to seal it', `${operator} (custody worktrees seal)`],
  'quarantine.recorded': ['word that it was put aside', 'the daemon, when an end is only assumed'],
  'retirement.receiptVerified': ['the receipt of the executor that archived or removed it', 'that executor'],
  'coverage.gapRecorded': ['a gap in what was noted', 'the intake of notes'],
  'coverage.gapClosed': ['proof that what a gap hid is over', 'a later boot, or an authentic receipt'],
  'prediction.recorded': ['a prediction', 'the daemon, when somebody asks for one'],
  'path.observed': ['a look at its directory', 'the daemon'],
  'contract.verified': ['a containment contract verified on this host', 'the battery (custody contract verify)'],
  'authority.granted': ['the grant of control over a new worktree', `${operator} (custody worktrees authority)`],
  'authority.migrated': ['the takeover of control, with evidence', `${operator} (custody worktrees authority)`],
  'authority.handoffRequested': ['the request to hand control over', `${operator} (custody worktrees authority)`],
  'authority.handedOff': ['the completion of the handoff', 'the last run that settles'],
  'authority.handoffAbandoned': ['the decision to keep control', `${operator} (custody worktrees authority)`],
} as const;

const scope = {
  'scope.requested': ['the request for a launch', launcher],
  'launch.prepared': ['the slots for its receipts', launcher],
  'launch.notStarted': ['word that no guardian could be started', launcher],
  'launch.abandoned': ['proof that its gate never opened and never will', launcher],
  'guardian.attached': ['the identities of guardian and root', 'its guardian, when it reports'],
  'launch.releaseCommitted': ['the release of the gate', launcher],
  'launch.releaseUncertain': ['word that the release may not have arrived', launcher],
  'scope.registeredExternally': ['word that somebody else launches it', 'whoever registers it'],
  'guardian.observed': ['a look at its guardian', looks],
  'witness.merged': ['identities of members of its tree', 'its guardian'],
  'residents.observed': ['a look at who is left of its tree', 'its guardian, whom the daemon asks'],
  'guardian.exitReceipt': ['its own exit receipt, authentic and complete', receipts],
  'enclosing.receiptAccepted': ['the exit receipt of the scope around it', 'the guardian of the scope around it'],
  'boot.epochEnded': ['another boot of this machine', 'the kernel, after a restart'],
  'coverage.gap': ['word that coverage was lost', 'the daemon'],
  'end.assumed': [
    'the word of a person who answers for it that nobody is left (no proof)',
    `${operator} (custody recover --assume-ended)`,
  ],
  'sideEffect.committed': ['the beginning of a publication', null],
  'sideEffect.done': ['the end of a publication', null],
  'drain.requested': ['the request to end it', 'whoever stops, cancels or replaces what it serves'],
  'drain.quiesced': ['word that the tree stands still', drain],
  'drain.signalled': ['word that everybody was signalled', drain],
  'drain.budgetExhausted': ['word that the time for the drain is over', drain],
  'drain.inspectionFailed': ['word that the tree could not be looked at', drain],
} as const;

const session = {
  'session.opened': ['its opening', launcher],
  'session.output': ['output of the agent', holder],
  'session.inputNeeded': ['the call of the agent for somebody', agent],
  'session.inputSent': ['input', 'a person at the terminal (custody sessions attach, custody sessions send)'],
  'session.resized': ['another size', 'its owner'],
  'result.reported': ['the result of the agent', agent],
  'deadline.reached': ['the passing of a deadline', clock],
  'launch.failed': ['word that the launch failed', relay],
  'stop.requested': ['the request to end it', `${operator} (custody sessions stop), or its scope`],
  'workload.endedWithoutStatus': ['proof that the agent is gone and left no status', relay],
  'capture.drainStarted': ['word that only what is left in the terminal is read', holder],
  'capture.finished': ['the end of what the terminal said', holder],
  'capture.fault': ['word that the terminal could not be read any more', holder],
  'scope.unverified': ['word that its scope cannot be accounted for', 'its scope'],
} as const;

const workers = {
  'worker.requested': ['its request', recovery],
  'worker.registered': ['its registration', 'the worker itself, as the workload of its guardian'],
  'worker.launchFailed': ['word that its launch failed', launcher],
  'worker.stopRequested': ['the request to end it', recovery],
  'target.changed': ['another target', 'the daemon, when its configuration is another one'],
  'scheduler.tick': ['a tick', 'the worker itself'],
  'fence.established': ['its beginning', 'the daemon'],
  'recovery.started': ['the beginning of a recovery', recovery],
  'worker.scopeSettled': ['proof that nobody of a worker remains', 'the scope of that worker'],
  'ownership.rescanned': ['a look at everything that earlier workers launched', recovery],
  'replacement.launched': ['the launch of a replacement', recovery],
  'recovery.failed': ['word that the recovery came no further', recovery],
  'recovery.retry': ['another attempt', `the clock of the daemon, or ${operator} (custody recover --now)`],
} as const;

const lines: Readonly<Record<EventType, Line>> = {
  ...goal,
  ...run,
  ...generation,
  ...scope,
  ...session,
  ...workers,
};

/** Journals of newer programs may hold types that this one does not know. */
export function evidenceOf(type: string): Evidence {
  const known = Object.hasOwn(lines, type) ? lines[type as EventType] : undefined;
  const [what, supplier] = known ?? [`an event of type ${type}`, 'a newer program'];
  return { what, supplier };
}
