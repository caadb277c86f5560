/** The catalogue (section E) for Goals, runs, worktree generations, execution scopes, sessions, workers and the fence, as data. */
import type { EventType } from '../../../machines/events/catalogue.ts';
import type { ActorKind } from '../../../machines/ids.ts';

export interface EventEntry {
  readonly takers: readonly ActorKind[];
  readonly creates?: true;
  /** Carries the basis of the worker that sends it. */
  readonly basis?: true;
  /**
   * Payload fields that make up the fact: equal ones are the same fact of the same actor. `none` is a fact that there is
   * once per actor; `sender` means that the sender brings the id: a request id, a sequence number, or a count.
   */
  readonly fact: readonly string[] | 'none' | 'sender';
}

const of = (kind: ActorKind, fact: EventEntry['fact'], rest: Partial<EventEntry> = {}): EventEntry => ({
  takers: [kind],
  fact,
  ...rest,
});

const goal: Partial<Record<EventType, EventEntry>> = {
  'goal.created': of('goal', ['goalId'], { creates: true }),
  'round.authored': of('goal', 'sender'),
  'goal.queued': of('goal', 'sender'),
  'claim.recorded': of('goal', ['claimId'], { basis: true }),
  'step.advanced': of('goal', 'sender', { basis: true }),
  'receipt.recorded': of('goal', ['receiptId'], { basis: true }),
  'step.failed': of('goal', 'sender', { basis: true }),
  'stop.settled': of('goal', ['stopRequestId'], { basis: true }),
  'execution.interrupted': of('goal', ['scopeId']),
  'preparation.reproduced': of('goal', 'sender', { basis: true }),
  'sideEffect.started': of('goal', ['effectId'], { basis: true }),
  'sideEffect.finished': of('goal', ['effectId']),
  'decision.stepSelected': of('goal', 'sender'),
  'goal.nodeAssigned': of('goal', 'sender'),
  'goal.cancelled': of('goal', 'sender'),
  'review.accepted': of('goal', 'sender'),
  'review.declined': of('goal', 'sender'),
  'integration.leased': of('goal', ['attemptId'], { basis: true }),
  'integration.begun': of('goal', ['attemptId'], { basis: true }),
  'integration.released': of('goal', ['attemptId']),
  'integration.localRecorded': of('goal', ['attemptId']),
  'integration.notApplied': of('goal', ['attemptId']),
  'publication.started': of('goal', 'sender', { basis: true }),
  'publication.finished': of('goal', 'sender'),
  'publication.failed': of('goal', 'sender'),
  'sync.workflowApplied': of('goal', ['sourceDigest']),
  'sync.nodeApplied': of('goal', ['sourceDigest']),
  'sync.cancelApplied': of('goal', ['sourceDigest']),
  'sync.conflictRaised': of('goal', ['oursDigest', 'theirsDigest']),
  'sync.conflictResolved': of('goal', 'sender'),
};

const run: Partial<Record<EventType, EventEntry>> = {
  'run.reserved': of('run', ['runId'], { creates: true }),
  'reservation.reported': of('run', 'none'),
  'run.placed': of('run', ['generationId']),
  'identity.bound': of('run', ['identityDigest']),
  'admission.uncertain': of('run', ['reason']),
  'admission.cancelled': of('run', 'none'),
  'process.observed': of('run', 'sender'),
  'exit.reported': of('run', ['reporter']),
  'workload.statusReceipt': of('run', ['scopeId', 'bytesDigest'], {
    takers: ['run', 'executionScope', 'ptySession'],
  }),
  'scope.exitProved': of('run', ['scopeId'], { takers: ['run', 'ptySession', 'workerIncarnation'] }),
};

const generation: Partial<Record<EventType, EventEntry>> = {
  'generation.registered': of('worktreeGeneration', ['generationId'], { creates: true }),
  'run.admitted': of('worktreeGeneration', ['runId']),
  'run.noted': of('worktreeGeneration', ['runId']),
  'run.settled': of('worktreeGeneration', ['runId']),
  'scope.opened': of('worktreeGeneration', ['scopeId']),
  'scope.settled': of('worktreeGeneration', ['scopeId']),
  'admission.closed': of('worktreeGeneration', 'sender'),
  'seal.requested': of('worktreeGeneration', 'sender'),
  'retirement.receiptVerified': of('worktreeGeneration', ['receiptDigest']),
  'coverage.gapRecorded': of('worktreeGeneration', ['gapId']),
  'coverage.gapClosed': of('worktreeGeneration', ['gapId']),
  'prediction.recorded': of('worktreeGeneration', 'sender'),
  'quarantine.recorded': of('worktreeGeneration', 'sender'),
  'path.observed': of('worktreeGeneration', 'sender'),
  'contract.verified': of('worktreeGeneration', 'sender'),
  'authority.granted': of('worktreeGeneration', 'sender'),
  'authority.migrated': of('worktreeGeneration', 'sender'),
  'authority.handoffRequested': of('worktreeGeneration', 'sender'),
  'authority.handedOff': of('worktreeGeneration', 'sender'),
  'authority.handoffAbandoned': of('worktreeGeneration', 'sender'),
};

const scope: Partial<Record<EventType, EventEntry>> = {
  'scope.requested': of('executionScope', ['scopeId'], { creates: true }),
  'launch.prepared': of('executionScope', 'none'),
  'launch.notStarted': of('executionScope', 'none'),
  'launch.abandoned': of('executionScope', 'none'),
  'guardian.attached': of('executionScope', 'none'),
  'launch.releaseCommitted': of('executionScope', 'none', { takers: ['executionScope', 'ptySession'] }),
  'launch.releaseUncertain': of('executionScope', 'none'),
  'scope.registeredExternally': of('executionScope', 'none'),
  'guardian.observed': of('executionScope', 'sender'),
  'witness.merged': of('executionScope', 'sender'),
  'guardian.exitReceipt': of('executionScope', ['bytesDigest']),
  'enclosing.receiptAccepted': of('executionScope', ['enclosingScopeId']),
  'boot.epochEnded': of('executionScope', ['currentBootId']),
  'residents.observed': of('executionScope', 'sender'),
  'end.assumed': of('executionScope', 'sender'),
  'coverage.gap': of('executionScope', ['reason']),
  'sideEffect.committed': of('executionScope', ['effectId']),
  'sideEffect.done': of('executionScope', ['effectId']),
  'drain.requested': of('executionScope', 'sender'),
  'drain.quiesced': of('executionScope', 'sender'),
  'drain.signalled': of('executionScope', 'sender'),
  'drain.budgetExhausted': of('executionScope', 'sender'),
  'drain.inspectionFailed': of('executionScope', 'sender'),
};

const session: Partial<Record<EventType, EventEntry>> = {
  'session.opened': of('ptySession', ['sessionId'], { creates: true }),
  'session.output': of('ptySession', 'sender'),
  'session.inputNeeded': of('ptySession', ['seq']),
  'session.inputSent': of('ptySession', 'sender'),
  'session.resized': of('ptySession', 'sender'),
  'result.reported': of('ptySession', 'none'),
  'deadline.reached': of('ptySession', ['deadlineId'], { takers: ['ptySession', 'workerIncarnation'] }),
  'stop.requested': of('ptySession', ['stopRequestId']),
  'capture.fault': of('ptySession', ['stream']),
  'capture.drainStarted': of('ptySession', 'none'),
  'capture.finished': of('ptySession', 'none'),
  'launch.failed': of('ptySession', 'none'),
  'workload.endedWithoutStatus': of('ptySession', 'none'),
  'scope.unverified': of('ptySession', ['scopeId', 'reason'], { takers: ['ptySession', 'workerIncarnation'] }),
};

const worker: Partial<Record<EventType, EventEntry>> = {
  'worker.requested': of('workerIncarnation', ['incarnationId'], { creates: true }),
  'worker.registered': of('workerIncarnation', 'none'),
  'worker.launchFailed': of('workerIncarnation', 'none'),
  'worker.stopRequested': of('workerIncarnation', 'sender'),
  'target.changed': of('workerIncarnation', 'sender'),
  'scheduler.tick': of('workerIncarnation', ['incarnationId', 'seq'], {
    takers: ['workerIncarnation', 'recoveryFence'],
  }),
};

const fence: Partial<Record<EventType, EventEntry>> = {
  'fence.established': of('recoveryFence', ['runtimeId'], { creates: true }),
  'recovery.started': of('recoveryFence', 'sender'),
  'worker.scopeSettled': of('recoveryFence', ['scopeId']),
  'ownership.rescanned': of('recoveryFence', 'sender'),
  'replacement.launched': of('recoveryFence', ['incarnationId']),
  'recovery.failed': of('recoveryFence', 'sender'),
  'recovery.retry': of('recoveryFence', 'sender'),
};

export const eventTable: Partial<Record<EventType, EventEntry>> = {
  ...goal,
  ...run,
  ...generation,
  ...scope,
  ...session,
  ...worker,
  ...fence,
};

/** Of the same sections, but sent by or to actors that are not part of this program yet. */
export const laterTypes = ['shutdown.requested', 'drain.workersSettled', 'store.opened'] as const;
