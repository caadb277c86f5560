/**
 * Events that somebody looks for after their actor is over, besides its first one, its last one and what snapshots cite: a
 * checkpoint of the journal keeps them (RET-02, REPL-08). `all` where there can only be a few, by their idempotency keys;
 * `first` where a repeat is possible and says nothing new.
 */
import type { EventType } from './events/catalogue.ts';
import type { ActorKind } from './ids.ts';

export type Kept = 'all' | 'first';
type Landmarks = Readonly<Partial<Record<EventType, Kept>>>;

export const landmarks: Readonly<Record<ActorKind, Landmarks>> = {
  goal: {
    // A repeated request that names no revision means the one of the first (STOP-08).
    'goal.queued': 'all',
    'goal.cancelled': 'first',
  },
  run: {
    'workload.statusReceipt': 'all',
    'scope.exitProved': 'all',
    'admission.cancelled': 'all',
    'exit.reported': 'all',
  },
  worktreeGeneration: {
    'contract.verified': 'first',
    'admission.closed': 'first',
    'seal.requested': 'first',
    'quarantine.recorded': 'all',
    'retirement.receiptVerified': 'all',
  },
  executionScope: {
    // With the bytes of the receipts, which outlive their files.
    'workload.statusReceipt': 'all',
    'guardian.exitReceipt': 'all',
    'enclosing.receiptAccepted': 'all',
    'boot.epochEnded': 'all',
    'coverage.gap': 'all',
    // Whether a check ended by itself is told from the order of these.
    'drain.requested': 'first',
    // What a launch that came to nothing came to.
    'launch.notStarted': 'all',
    'launch.abandoned': 'all',
    'end.assumed': 'all',
    'scope.registeredExternally': 'all',
  },
  ptySession: {
    'launch.failed': 'all',
    'result.reported': 'first',
    'capture.fault': 'all',
    'capture.finished': 'all',
    'workload.statusReceipt': 'all',
    'workload.endedWithoutStatus': 'all',
    'scope.exitProved': 'all',
  },
  workerIncarnation: {
    'worker.registered': 'first',
    'worker.launchFailed': 'first',
    'worker.stopRequested': 'first',
    'scope.exitProved': 'all',
  },
  recoveryFence: {},
};

export const landmark = (kind: string, type: string): Kept | undefined =>
  Object.hasOwn(landmarks, kind) ? (landmarks[kind as ActorKind] as Partial<Record<string, Kept>>)[type] : undefined;
