/**
 * What each event says, and who says it, in one sentence and one name: for the pages and for explanations. Producers are
 * parts of this program, or people; whoever submits an event names itself in its envelope besides.
 */
import type { EventType } from './catalogue.ts';

export interface EventMeaning {
  readonly producer: string;
  readonly meaning: string;
}

const by = (producer: string, meaning: string): EventMeaning => ({ producer, meaning });

const operator = 'operator';
const worker = 'scheduling worker';
const coordinator = 'launch coordinator';
const gitObserver = 'git observer';
const importer = 'sync importer';
const launcher = 'launcher, through its notes';
const reconciler = 'reconciler';
const receiptReader = 'receipt reader';
const drainExecutor = 'drain executor';
const capture = 'PTY host, capture';
const relayOfScope = 'relay of its scope, in the same commit';
const recovery = 'worker recovery';

const goal = {
  'goal.created': by('operator or import', 'A Goal is wanted; with a Round it has its first request.'),
  'round.authored': by('operator or agent', 'Somebody has written down what is asked for next.'),
  'goal.queued': by(operator, 'The Goal may be worked on from now on.'),
  'claim.recorded': by(worker, 'A worker takes responsibility for the present occurrence; it reserves nothing.'),
  'step.advanced': by(worker, 'A step is done, with receipts that are recorded already, and the next one begins.'),
  'receipt.recorded': by(worker, 'Evidence about a step with its verdict, kept whether or not the Goal has moved on.'),
  'step.failed': by(worker, 'A step could not be carried out, for a reason that is no verdict about the work.'),
  'stop.settled': by('stop coordinator', 'What somebody asked to stop has ended, as far as is known.'),
  'execution.interrupted': by('daemon', 'Work was cut off before it had a verdict; the Goal stays where it is.'),
  'preparation.reproduced': by(worker, 'The workspace was made anew, because what was kept could not be used.'),
  'sideEffect.started': by(worker, 'Something that cannot be taken back is about to be done, on the present basis.'),
  'sideEffect.finished': by('effect executor', 'What became of a side effect that was begun.'),
  'decision.stepSelected': by('operator or agent', 'Somebody chooses the step at which the Goal goes on.'),
  'goal.nodeAssigned': by(operator, 'Another node, or the same, is to work on the Goal.'),
  'goal.cancelled': by(operator, 'The Goal is given up; work for it is asked to end.'),
  'review.accepted': by('reviewer', 'The integrated result is what was wanted.'),
  'review.declined': by('reviewer', 'The integrated result is not what was wanted.'),
  'integration.leased': by(worker, 'One attempt at integrating the candidate has the target to itself.'),
  'integration.begun': by(worker, 'From now on git may have been changed by the attempt.'),
  'integration.released': by('worker or daemon', 'The target is given back before git was touched.'),
  'integration.localRecorded': by(gitObserver, 'Git shows the merge of the attempt, here and not pushed.'),
  'integration.notApplied': by(gitObserver, 'Git shows that the attempt has merged nothing.'),
  'publication.started': by(worker, 'From now on the remote may have been pushed to.'),
  'publication.finished': by(gitObserver, 'The remote shows the merge.'),
  'publication.failed': by(gitObserver, 'The remote does not show the merge.'),
  'sync.workflowApplied': by(importer, 'Another node has brought a newer place in the workflow.'),
  'sync.nodeApplied': by(importer, 'Another node has brought a newer assignment.'),
  'sync.cancelApplied': by(importer, 'Another node has brought a cancellation.'),
  'sync.conflictRaised': by(importer, 'Two nodes have decided differently, and neither decision yields.'),
  'sync.conflictResolved': by(operator, 'Somebody has chosen between two decisions.'),
} as const;

const run = {
  'run.reserved': by(
    'admission, or a launcher through its notes',
    'A job is going to be launched, or was, by somebody.',
  ),
  'reservation.reported': by(launcher, 'What the reservation of a run would have said, told later.'),
  'run.placed': by(launcher, 'The worktree in which a run works, told later.'),
  'identity.bound': by('launcher at the entry point', 'This very process is the job.'),
  'admission.uncertain': by('launcher or recovery', 'Nobody can say whether the job began.'),
  'admission.cancelled': by(relayOfScope, 'The gate never opened, so the image never ran.'),
  'process.observed': by(reconciler, 'What the kernel showed of the recorded process.'),
  'exit.reported': by(launcher, 'A launcher claims that the job has ended; it proves nothing.'),
  'workload.statusReceipt': by(receiptReader, 'How the root of a tree ended, as its guardian saw it.'),
  'scope.exitProved': by(relayOfScope, 'No process of the tree remains, by proof.'),
} as const;

const generation = {
  'generation.registered': by('operator or worktree manager', 'A physical worktree is known from now on.'),
  'run.admitted': by('admission', 'A run may work in the worktree.'),
  'run.noted': by('launcher or import', 'Somebody else has a run in the worktree.'),
  'run.settled': by('relay of its run, in the same commit', 'A run is over.'),
  'scope.opened': by(coordinator, 'A process tree of an admitted run is wanted.'),
  'scope.settled': by(relayOfScope, 'A process tree of an admitted run is proved to be gone.'),
  'admission.closed': by(operator, 'Nobody new is to come into the worktree.'),
  'seal.requested': by(operator, 'It is to be established that nobody is left who could write there.'),
  'quarantine.recorded': by(
    'operator, through recovery',
    'The directory was put aside, because an end was only assumed.',
  ),
  'retirement.receiptVerified': by('receipt verifier', 'An executor has archived or removed the sealed worktree.'),
  'coverage.gapRecorded': by('ingestion, adapter or doctor', 'Something may have happened unseen.'),
  'coverage.gapClosed': by('reconciler or recovery', 'What may have happened unseen is proved to be over.'),
  'prediction.recorded': by(reconciler, 'What a seal would say, if this program were in control.'),
  'path.observed': by(reconciler, 'What lies at the path of the worktree now.'),
  'contract.verified': by(
    'contract verifier',
    'Guardians of this kind were shown to contain what they launch, on this host.',
  ),
  'authority.granted': by(operator, 'This program is put in control of a new worktree.'),
  'authority.migrated': by(operator, 'This program is put in control of a worktree that was in use before.'),
  'authority.handoffRequested': by(operator, 'Control is to go to somebody else.'),
  'authority.handedOff': by('handoff coordinator', 'Control has gone to somebody else.'),
  'authority.handoffAbandoned': by(operator, 'Control stays where it is after all.'),
} as const;

const scope = {
  'scope.requested': by(
    'admission or session manager',
    'A process tree under a guardian is wanted, or one of others is known.',
  ),
  'launch.prepared': by(coordinator, 'Room for the receipts is reserved; the one attempt at spawning begins.'),
  'launch.notStarted': by(coordinator, 'The guardian could not be spawned.'),
  'launch.abandoned': by('launch coordinator or recovery', 'The gate stays shut for good.'),
  'guardian.attached': by(coordinator, 'The guardian has told who it is, and whom it holds.'),
  'launch.releaseCommitted': by(coordinator, 'The gate is about to be opened: from now on the image may have run.'),
  'launch.releaseUncertain': by(coordinator, 'Whether the gate was opened is not known.'),
  'scope.registeredExternally': by('adapter or import', 'No guardian of this program holds the tree.'),
  'guardian.observed': by(reconciler, 'What the kernel showed of the guardian.'),
  'witness.merged': by('drain or diagnosis scan', 'Processes that were seen in the tree.'),
  'residents.observed': by(reconciler, 'Whether only declared residents are left of the tree.'),
  'guardian.exitReceipt': by(receiptReader, 'The guardian has seen that no descendant remains.'),
  'enclosing.receiptAccepted': by('ownership recovery', 'The receipt of the tree around it accounts for this one.'),
  'boot.epochEnded': by('recovery at start', 'The machine was started anew since, which nothing of the tree outlived.'),
  'coverage.gap': by('ownership assessment', 'Nobody could have told everything about the tree for a time.'),
  'end.assumed': by(operator, 'Somebody answers for it that nobody is left, where nothing can prove it.'),
  'sideEffect.committed': by('publication launcher', 'Something in the tree publishes, and is not to be cut off.'),
  'sideEffect.done': by('publication launcher', 'What was published in the tree is over.'),
  'drain.requested': by('session, cleanup lane, operator, recovery or shutdown', 'The whole tree is to end.'),
  'drain.quiesced': by(drainExecutor, 'Two scans agreed on who is in the frozen tree.'),
  'drain.signalled': by(drainExecutor, 'Everybody in the frozen tree was told to end.'),
  'drain.budgetExhausted': by(drainExecutor, 'The time for the drain has run out.'),
  'drain.inspectionFailed': by(drainExecutor, 'The tree could not be looked at, and runs on.'),
} as const;

const session = {
  'session.opened': by('session manager', 'A terminal with an agent in it is wanted.'),
  'session.output': by('PTY host', 'The agent has said something.'),
  'session.inputNeeded': by('agent', 'The agent waits for somebody.'),
  'session.inputSent': by('operator or agent', 'Somebody has typed; what, is not recorded.'),
  'session.resized': by(operator, 'The terminal has another size.'),
  'result.reported': by('agent', 'The agent says how it went.'),
  'deadline.reached': by('deadline service', 'A limit in time was reached, on the basis that it was armed with.'),
  'stop.requested': by('operator, or its scope', 'The session is to end.'),
  'capture.fault': by(capture, 'Output can no longer be read or written down.'),
  'capture.drainStarted': by(capture, 'The agent has ended, and the rest of its output is read.'),
  'capture.finished': by(capture, 'Reading has ended, and how.'),
  'launch.failed': by(relayOfScope, 'The agent never ran.'),
  'workload.endedWithoutStatus': by(relayOfScope, 'The agent is gone, and nobody recorded how.'),
  'scope.unverified': by(relayOfScope, 'The tree cannot be accounted for.'),
} as const;

const workerAndFence = {
  'worker.requested': by(recovery, 'A scheduling worker is going to be launched.'),
  'worker.registered': by('the worker itself', 'The worker tells who it is.'),
  'worker.launchFailed': by(coordinator, 'The worker could not be launched.'),
  'worker.stopRequested': by('worker recovery or shutdown', 'The worker is to end.'),
  'target.changed': by('daemon', 'There is another program or configuration to work for.'),
  'scheduler.tick': by('the worker itself', 'The worker has gone through everything that is due.'),
  'fence.established': by('daemon at start', 'Workers of this runtime are replaced one at a time.'),
  'recovery.started': by('daemon supervision', 'A worker is wanted, or wanted anew.'),
  'worker.scopeSettled': by('relay of its worker, in the same commit', 'Nobody of a worker remains, by proof.'),
  'ownership.rescanned': by('ownership assessment', 'Everything that earlier workers launched was looked at.'),
  'replacement.launched': by(coordinator, 'A worker is launched in the very commit that says so.'),
  'recovery.failed': by(recovery, 'A recovery came no further.'),
  'recovery.retry': by('deadline service or operator', 'The recovery is to be tried again.'),
} as const;

export const eventMeanings: Readonly<Record<EventType, EventMeaning>> = {
  ...goal,
  ...run,
  ...generation,
  ...scope,
  ...session,
  ...workerAndFence,
};
