/** What a worker incarnation remembers, and the times by which it has to give a sign of life. */
import type { EventOf, EventType, Payload } from './events/catalogue.ts';
import type { ProcessIdentity } from './identity.ts';

export interface WorkerContext extends Payload<'worker.requested'> {
  /** Null until it has registered. */
  readonly process: ProcessIdentity | null;
  /** The last tick that was journaled; `seq` 0 before the first. */
  readonly tick: { readonly seq: number; readonly sampledAt: Payload<'worker.requested'>['requestedAt'] };
  /** From when its start counts: its request, or the change of its target. */
  readonly since: Payload<'worker.requested'>['requestedAt'];
  /** Why it is no longer relied upon. */
  readonly reason: string | null;
}

type WorkerEventType = Extract<
  EventType,
  | 'worker.registered'
  | 'worker.launchFailed'
  | 'worker.stopRequested'
  | 'scheduler.tick'
  | 'deadline.reached'
  | 'target.changed'
  | 'scope.exitProved'
  | 'scope.unverified'
>;
export type WorkerEvent = EventOf<WorkerEventType>;

export const initialWorkerContext = (input: Payload<'worker.requested'>): WorkerContext => ({
  incarnationId: input.incarnationId,
  runtimeId: input.runtimeId,
  registrationId: input.registrationId,
  launchTokenHash: input.launchTokenHash,
  scopeId: input.scopeId,
  targetId: input.targetId,
  nodeId: input.nodeId,
  startupMs: input.startupMs,
  silenceMs: input.silenceMs,
  requestedAt: input.requestedAt,
  process: null,
  tick: { seq: 0, sampledAt: input.requestedAt },
  since: input.requestedAt,
  reason: null,
});

/** The payload of `deadline.reached` as it has to come back; a tick since makes it stale (PTY-09). */
export type WorkerDeadline = Readonly<Payload<'deadline.reached'>>;

/** `sinceTick` is the newest exact tick, journaled or not; the record's own where there is no other. */
export function workerDeadline(
  kind: 'startup' | 'silence',
  { incarnationId, startupMs, silenceMs, since, tick }: WorkerContext,
  sinceTick: WorkerContext['tick'] = tick,
): WorkerDeadline {
  const { bootId, monoMs } = kind === 'startup' ? since : sinceTick.sampledAt;
  return {
    deadlineId: `${kind}:${incarnationId}:${sinceTick.seq}:${monoMs}`,
    kind,
    basisActivitySeq: sinceTick.seq,
    bootId,
    monoMs: monoMs + (kind === 'startup' ? startupMs : silenceMs),
  };
}
