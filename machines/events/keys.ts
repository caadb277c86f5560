/**
 * Idempotency keys (section E): the same fact always gets the same event id, so a repeat is recognised per actor. What a
 * person asks for is keyed by the request id instead, and observations by the daemon start and a sequence number,
 * because alive, unknown and alive again are three facts (ruling 2).
 */
import type { EventType, Payload } from './catalogue.ts';

type KeyOf = { readonly [Type in EventType]?: (payload: Payload<Type>, actorId: string) => string };

const keys: KeyOf = {
  'goal.created': ({ goalId }) => `goal:${goalId}`,
  'run.reserved': ({ runId }) => `run:${runId}`,
  'generation.registered': ({ generationId }) => `generation:${generationId}`,
  'scope.requested': ({ scopeId }) => `scope:${scopeId}`,
  'session.opened': ({ sessionId }) => `session:${sessionId}`,

  'claim.recorded': ({ claimId }) => `claim:${claimId}`,
  'receipt.recorded': ({ receiptId }) => `receipt:${receiptId}`,
  'stop.settled': ({ stopRequestId }) => `stop:${stopRequestId}`,
  'execution.interrupted': ({ scopeId }) => `int:${scopeId}`,
  'sideEffect.started': ({ effectId }) => `effect:${effectId}`,
  'sideEffect.finished': ({ effectId }) => `done:${effectId}`,
  'integration.leased': ({ attemptId }) => `lease:${attemptId}`,
  'integration.begun': ({ attemptId }) => `begin:${attemptId}`,
  'integration.released': ({ attemptId }) => `rel:${attemptId}`,
  'integration.localRecorded': ({ attemptId }) => `local:${attemptId}`,
  'integration.notApplied': ({ attemptId }) => `na:${attemptId}`,
  'sync.workflowApplied': ({ sourceDigest }) => `sync:${sourceDigest}`,
  'sync.nodeApplied': ({ sourceDigest }) => `syncn:${sourceDigest}`,
  'sync.cancelApplied': ({ sourceDigest }) => `syncc:${sourceDigest}`,
  'sync.conflictRaised': ({ oursDigest, theirsDigest }) => `conf:${oursDigest}:${theirsDigest}`,

  'reservation.reported': (_, runId) => `res:${runId}`,
  'run.placed': ({ generationId }, runId) => `place:${runId}:${generationId}`,
  'identity.bound': ({ identityDigest }, runId) => `bind:${runId}:${identityDigest}`,
  'admission.uncertain': ({ reason }, runId) => `unc:${runId}:${reason}`,
  'admission.cancelled': (_, runId) => `canc:${runId}`,
  'exit.reported': ({ reporter }, runId) => `exit:${runId}:${reporter}`,
  'scope.exitProved': ({ scopeId }) => `sp:${scopeId}`,

  'run.admitted': ({ runId }) => `adm:${runId}`,
  'run.noted': ({ runId }) => `note:${runId}`,
  'run.settled': ({ runId }) => `rs:${runId}`,
  'scope.opened': ({ scopeId }) => `so:${scopeId}`,
  'scope.settled': ({ scopeId }) => `ss:${scopeId}`,
  'retirement.receiptVerified': ({ receiptDigest }) => `ret:${receiptDigest}`,
  'coverage.gapRecorded': ({ gapId }) => `gap:${gapId}`,
  'coverage.gapClosed': ({ gapId }) => `gapx:${gapId}`,

  'launch.prepared': (_, scopeId) => `prep:${scopeId}`,
  'launch.notStarted': (_, scopeId) => `ns:${scopeId}`,
  'launch.abandoned': (_, scopeId) => `ab:${scopeId}`,
  'guardian.attached': (_, scopeId) => `att:${scopeId}`,
  'launch.releaseCommitted': (_, scopeId) => `rel:${scopeId}`,
  'launch.releaseUncertain': (_, scopeId) => `relu:${scopeId}`,
  'scope.registeredExternally': (_, scopeId) => `ext:${scopeId}`,
  'workload.statusReceipt': ({ scopeId, bytesDigest }) => `ws:${scopeId}:${bytesDigest}`,
  'guardian.exitReceipt': ({ bytesDigest }, scopeId) => `er:${scopeId}:${bytesDigest}`,
  'enclosing.receiptAccepted': ({ enclosingScopeId }, scopeId) => `enc:${scopeId}:${enclosingScopeId}`,
  'boot.epochEnded': ({ currentBootId }, scopeId) => `boot:${scopeId}:${currentBootId}`,
  'coverage.gap': ({ reason }, scopeId) => `cg:${scopeId}:${reason}`,
  'sideEffect.committed': ({ effectId }) => `sc:${effectId}`,
  'sideEffect.done': ({ effectId }) => `sd:${effectId}`,

  'launch.failed': (_, sessionId) => `lf:${sessionId}`,
  'workload.endedWithoutStatus': (_, sessionId) => `wu:${sessionId}`,
  'scope.unverified': ({ scopeId, reason }) => `su:${scopeId}:${reason}`,
  'session.inputNeeded': ({ seq }, sessionId) => `in:${sessionId}:${seq}`,
  'result.reported': (_, sessionId) => `res:${sessionId}`,
  'deadline.reached': ({ deadlineId }) => `dl:${deadlineId}`,
  'stop.requested': ({ stopRequestId }) => `stop:${stopRequestId}`,
  'capture.fault': ({ stream }, sessionId) => `cf:${sessionId}:${stream}`,
  'capture.drainStarted': (_, sessionId) => `cd:${sessionId}`,
  'capture.finished': (_, sessionId) => `cx:${sessionId}`,

  'worker.requested': ({ incarnationId }) => `worker:${incarnationId}`,
  'worker.registered': (_, incarnationId) => `wr:${incarnationId}`,
  'worker.launchFailed': (_, incarnationId) => `wl:${incarnationId}`,
  'scheduler.tick': ({ incarnationId, seq }) => `tick:${incarnationId}:${seq}`,
  'fence.established': ({ runtimeId }) => `fence:${runtimeId}`,
  'worker.scopeSettled': ({ scopeId }) => `wss:${scopeId}`,
  'replacement.launched': ({ incarnationId }) => `rl:${incarnationId}`,
};

/** The key that follows from the fact itself, or undefined where the sender has to bring one. */
export function idempotencyKey<Type extends EventType>(
  type: Type,
  payload: Payload<Type>,
  actorId: string,
): string | undefined {
  return (keys[type] as ((payload: Payload<Type>, actorId: string) => string) | undefined)?.(payload, actorId);
}
