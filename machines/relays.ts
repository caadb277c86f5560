/**
 * What one actor's change means for the others (K7, C.11). The host delivers these inside the same transaction; an actor
 * that has no use for one records that and nothing else happens (ruling 3).
 */
import type { AnyMachineSnapshot } from 'xstate';
import type { EventOf, EventType, Payload } from './events/catalogue.ts';
import type { MachineEvent } from './events/envelope.ts';
import { type DrainCause, resultOf } from './evidence.ts';
import type { ScopeSnapshot } from './executionScope.ts';
import type { ActorAddress, ActorKind } from './ids.ts';
import type { SessionSnapshot } from './ptySession.ts';
import type { RunSnapshot } from './run.ts';
import type { WorkerSnapshot } from './workerIncarnation.ts';
import { type GenerationSnapshot, handoffBlockersOf } from './worktreeGeneration.ts';

/** All actors of a kind that carry the link, as far as they are not released yet. */
export interface LinkedActors {
  readonly kind: ActorKind;
  readonly link: string;
  readonly value: string;
  /** Those that are released as well: late evidence may still say something about them. */
  readonly alsoReleased?: true;
}

export type Relay = {
  readonly [Type in EventType]: {
    readonly to: ActorAddress | LinkedActors;
    readonly type: Type;
    readonly payload: Payload<Type>;
    /** Set where the relayed fact is the very same event (ruling 2). */
    readonly eventId?: string;
  };
}[EventType];

export interface ActorChange {
  readonly kind: ActorKind;
  readonly id: string;
  readonly before: AnyMachineSnapshot | null;
  readonly after: AnyMachineSnapshot;
  readonly event: MachineEvent;
}

export function relaysOf(change: ActorChange): readonly Relay[] {
  switch (change.kind) {
    case 'goal':
      return goalRelays(change);
    case 'run':
      return runRelays(change, change.after as RunSnapshot);
    case 'executionScope':
      return scopeRelays(change, change.after as ScopeSnapshot);
    case 'ptySession':
      return sessionRelays(change, change.after as SessionSnapshot);
    case 'workerIncarnation':
      return workerRelays(change, change.after as WorkerSnapshot);
    case 'worktreeGeneration':
      return generationRelays(change, change.after as GenerationSnapshot);
    case 'recoveryFence':
      return [];
  }
}

/** A cancelled Goal asks for the end of its local scopes; that none of them ends undoes nothing (STOP-04). */
function goalRelays({ id, event }: ActorChange): readonly Relay[] {
  if (event.type !== 'goal.cancelled') return [];
  const requestId = String(event.requestId);
  return [
    {
      to: { kind: 'executionScope', link: 'goalId', value: id },
      type: 'drain.requested',
      payload: { cause: 'cancelled', requestId },
    },
  ];
}

function runRelays({ before, event }: ActorChange, after: RunSnapshot): readonly Relay[] {
  const { runId, generationId } = after.context;
  const becameTerminal = after.hasTag('terminal') && !before?.hasTag('terminal');
  const becamePlaced = before !== null && generationId !== (before as RunSnapshot).context.generationId;
  const isNews = becameTerminal || (becamePlaced && after.hasTag('terminal'));
  if (!isNews || generationId === null) return [];
  const terminal = after.matches({ lifecycle: 'ended' }) ? 'ended' : 'cancelled';
  return [
    {
      to: { kind: 'worktreeGeneration', id: generationId },
      type: 'run.settled',
      payload: { runId, terminal, endEventId: after.context.end?.eventId ?? event.eventId },
    },
  ];
}

/** A handoff completes with the fact that it was waiting for, in the same commit; nobody has to come by (PROMO-05). */
function generationRelays({ id }: ActorChange, after: GenerationSnapshot): readonly Relay[] {
  const { handoff } = after.context;
  if (handoff === null || !after.matches({ authority: 'quiescing' }) || handoffBlockersOf(after).length > 0) return [];
  const payload = { requestId: handoff.requestId, controller: handoff.to };
  return [{ to: { kind: 'worktreeGeneration', id }, type: 'authority.handedOff', payload }];
}

function scopeRelays(change: ActorChange, after: ScopeSnapshot): readonly Relay[] {
  return [
    ...statusRelays(change, after),
    ...proofRelays(change, after),
    ...relaysToSession(change, after),
    ...relaysToWorker(change, after),
  ];
}

function statusRelays({ id, event, after: { context } }: ActorChange, after: ScopeSnapshot): readonly Relay[] {
  if (event.type !== 'workload.statusReceipt') return [];
  const { type, eventId, basis: _, ...payload } = event;
  const { runId, onRootExit } = context as ScopeSnapshot['context'];
  const relays: Relay[] = [];
  if (runId !== null) {
    relays.push({
      to: { kind: 'run', id: runId },
      type: 'workload.statusReceipt',
      payload: payload as Payload<'workload.statusReceipt'>,
      eventId,
    });
  }
  const everRan = event.how !== 'notReleased' && event.how !== 'execFailed';
  if (
    everRan &&
    onRootExit === 'terminate' &&
    !after.hasTag('capacityReleased') &&
    after.matches({ termination: 'idle' })
  ) {
    relays.push({
      to: { kind: 'executionScope', id },
      type: 'drain.requested',
      payload: { cause: 'natural', requestId: `natural:${id}` },
    });
  }
  return relays;
}

function proofRelays({ before }: ActorChange, after: ScopeSnapshot): readonly Relay[] {
  const { scopeId, runId, generationId, proof } = after.context;
  const becameReleased = after.hasTag('capacityReleased') && !before?.hasTag('capacityReleased');
  if (!becameReleased || proof === null || runId === null) return [];
  const relays: Relay[] = [
    isNeverRun(after)
      ? {
          to: { kind: 'run', id: runId },
          type: 'admission.cancelled',
          payload: { gate: 'never_opened', scopeId, proofEventId: proof.eventId },
        }
      : {
          to: { kind: 'run', id: runId },
          type: 'scope.exitProved',
          payload: { scopeId, proofKind: proof.kind, proofEventId: proof.eventId },
        },
  ];
  if (generationId !== null) {
    relays.push({
      to: { kind: 'worktreeGeneration', id: generationId },
      type: 'scope.settled',
      payload: { runId, scopeId, proofKind: proof.kind },
    });
  }
  return relays;
}

/**
 * Without a committed release the image never ran, whichever proof closed the scope (GRD-07): after a reboot behind a
 * shut gate the run is still reserved, and nothing but a cancellation leads out of that. What others launched was never
 * behind a gate of ours.
 */
function isNeverRun({ context }: ScopeSnapshot): boolean {
  return context.proof?.kind === 'never_launched' || (context.released === 'no' && context.kind !== 'external');
}

/** What a session hears of its scope. It is found by its link, because a scope is requested without knowing of one. */
function relaysToSession(change: ActorChange, after: ScopeSnapshot): readonly Relay[] {
  const { id, event } = change;
  const before = change.before as ScopeSnapshot | null;
  const to = { kind: 'ptySession', link: 'scopeId', value: id } as const;
  const relays: Relay[] = [];
  if (event.type === 'launch.releaseCommitted') {
    // A guardian that had closed its gate by then has said so already, and says it only once.
    relays.push(
      after.context.status === null
        ? { to, type: 'launch.releaseCommitted', payload: {}, eventId: event.eventId }
        : { to, type: 'launch.failed', payload: { phase: 'gate', reasonCode: 'not_released' } },
    );
  }
  // Behind a shut gate there is no status of the agent: that the launch failed says it all.
  if (before?.context.status === null && after.context.status !== null && after.context.released !== 'no') {
    relays.push(statusForSession(change, { ...to, alsoReleased: true }));
  }
  relays.push(...settlementForSession({ to, before, after, event }));
  const stop = stopForSession(after, event);
  if (stop !== undefined) relays.push({ to, type: 'stop.requested', payload: stop });
  return relays;
}

/** A complete exit receipt holds the status too, and may be read although the status receipt was not (PTY-02). */
function statusForSession({ id, event }: ActorChange, to: LinkedActors): Relay {
  const receipt = event as EventOf<'workload.statusReceipt'> | EventOf<'guardian.exitReceipt'>;
  const { dev, ino, guardian, workload, bootId, bytesDigest, receiptText, authentic } = receipt;
  const binding = { dev, ino, guardian, workload, bootId, bytesDigest, receiptText, authentic };
  const scopeId = id as Payload<'workload.statusReceipt'>['scopeId'];
  return {
    to,
    type: 'workload.statusReceipt',
    payload: { scopeId, ...binding, ...resultOf(receipt) },
    ...(receipt.type === 'workload.statusReceipt' ? { eventId: receipt.eventId } : {}),
  };
}

interface ForSession {
  readonly to: LinkedActors;
  readonly before: ScopeSnapshot | null;
  readonly after: ScopeSnapshot;
  readonly event: MachineEvent;
}

function settlementForSession({ to, before, after, event }: ForSession): readonly Relay[] {
  const { proof, status } = after.context;
  const account = accountOf({ to, before, after });
  if (account?.type !== 'scope.exitProved' || proof === null) return account === undefined ? [] : [account];
  const relays: Relay[] = [];
  if (isNeverRun(after)) {
    relays.push({ to, type: 'launch.failed', payload: launchFailure(event, proof.kind) });
  } else if (status === null) {
    // The tree is gone, so whoever could have written a status is gone as well (L-15).
    const payload = { evidenceEventId: proof.eventId, reason: proof.kind };
    relays.push({ to, type: 'workload.endedWithoutStatus', payload });
  }
  return [...relays, account];
}

/** That a scope cannot be accounted for any more, or that nobody of it remains; each is said once. */
function accountOf({ to, before, after }: Omit<ForSession, 'event'>): Relay | undefined {
  const { scopeId, proof } = after.context;
  const reason = uncertaintyIn(after);
  if (reason !== undefined && uncertaintyIn(before) === undefined) {
    return { to, type: 'scope.unverified', payload: { scopeId, reason } };
  }
  if (proof === null || !after.hasTag('capacityReleased') || before?.hasTag('capacityReleased')) return undefined;
  const payload = { scopeId, proofKind: proof.kind, proofEventId: proof.eventId };
  return { to, type: 'scope.exitProved', payload };
}

/** A guardian that could not be looked at just now is no uncertainty that lasts: a session has no way back from one. */
function uncertaintyIn(scope: ScopeSnapshot | null): string | undefined {
  if (scope === null || scope.hasTag('capacityReleased')) return undefined;
  if (scope.matches({ termination: 'stalled' })) return 'drain_stalled';
  return scope.matches({ coverage: { unverified: 'gap' } })
    ? (scope.context.gaps.at(-1) ?? 'guardian_gone')
    : undefined;
}

function launchFailure({ type, phase, errno, reason }: MachineEvent, proofKind: string): Payload<'launch.failed'> {
  const code = (text: unknown) =>
    String(text)
      .toLowerCase()
      .replace(/[^a-z0-9_]/g, '_')
      .slice(0, 64) || 'unknown';
  if (type === 'launch.notStarted') return { phase: code(phase), reasonCode: code(errno) };
  return { phase: 'gate', reasonCode: type === 'launch.abandoned' ? code(reason) : proofKind };
}

/** A drain that the session has asked for, or that follows from the end of its agent, is no news to it. */
function stopForSession({ context }: ScopeSnapshot, event: MachineEvent): Payload<'stop.requested'> | undefined {
  if (event.type !== 'drain.requested') return undefined;
  const { cause, requestId, sessionId } = event as EventOf<'drain.requested'>;
  if (cause === 'natural' || sessionId !== undefined) return undefined;
  return { stopRequestId: requestId, actor: 'execution-scope', cause, scopeId: context.scopeId };
}

/**
 * Whatever makes a session end asks for one and the same drain of its scope (PTY-04). That its agent ends by itself asks
 * for nothing here: the scope knows whether the rest of its tree is to go on (ruling 1).
 */
function sessionRelays({ before, event }: ActorChange, after: SessionSnapshot): readonly Relay[] {
  const isEnding = (snapshot: AnyMachineSnapshot | null) => snapshot?.matches({ workload: 'ending' }) ?? false;
  if (!isEnding(after) || isEnding(before)) return [];
  const { sessionId, scopeId } = after.context;
  const cause = causeOfEnding(event);
  if (cause === undefined) return [];
  const payload = { cause, requestId: `${cause}:${sessionId}`, sessionId };
  return [{ to: { kind: 'executionScope', id: scopeId }, type: 'drain.requested', payload }];
}

/** undefined where the scope has passed on the drain that is under way. */
function causeOfEnding(event: MachineEvent): DrainCause | undefined {
  switch (event.type) {
    case 'result.reported':
      return 'completed';
    case 'deadline.reached':
      return 'deadline';
    case 'capture.fault':
      return 'capture_fault';
    default:
      return event.scopeId === undefined ? (event.cause as DrainCause) : undefined;
  }
}

/** What a worker hears of its scope, which serves no run. One whose gate never opened is as gone as one that ended. */
function relaysToWorker(change: ActorChange, after: ScopeSnapshot): readonly Relay[] {
  if (after.context.runId !== null) return [];
  const to = { kind: 'workerIncarnation', link: 'scopeId', value: change.id } as const;
  const account = accountOf({ to, before: change.before as ScopeSnapshot | null, after });
  return account === undefined ? [] : [account];
}

/** The fence of its runtime learns that a worker works, and that nobody of it remains. */
function workerRelays({ before, event }: ActorChange, after: WorkerSnapshot): readonly Relay[] {
  const { runtimeId, scopeId } = after.context;
  const to = { kind: 'recoveryFence', id: runtimeId } as const;
  if (event.type === 'scheduler.tick' && !before?.matches('healthy')) {
    const { type, eventId, basis: _, ...payload } = event;
    return [{ to, type: 'scheduler.tick', payload: payload as Payload<'scheduler.tick'>, eventId }];
  }
  if (event.type !== 'scope.exitProved' || before?.matches('exited')) return [];
  return [{ to, type: 'worker.scopeSettled', payload: { scopeId, proofEventId: String(event.proofEventId) } }];
}
