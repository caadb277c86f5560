/**
 * What one actor's change means for the others (K7, C.11). The host delivers these inside the same transaction; an actor
 * that has no use for one records that and nothing else happens (ruling 3).
 */
import type { AnyMachineSnapshot } from 'xstate';
import type { EventType, Payload } from './events/catalogue.ts';
import type { MachineEvent } from './events/envelope.ts';
import type { ScopeSnapshot } from './executionScope.ts';
import type { ActorAddress, ActorKind } from './ids.ts';
import type { RunSnapshot } from './run.ts';

/** All actors of a kind that carry the link, as far as they are not released yet. */
export interface LinkedActors {
  readonly kind: ActorKind;
  readonly link: string;
  readonly value: string;
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
    case 'worktreeGeneration':
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
  if (!becameTerminal || generationId === null) return [];
  const terminal = after.matches({ lifecycle: 'ended' }) ? 'ended' : 'cancelled';
  return [
    {
      to: { kind: 'worktreeGeneration', id: generationId },
      type: 'run.settled',
      payload: { runId, terminal, endEventId: event.eventId },
    },
  ];
}

function scopeRelays(change: ActorChange, after: ScopeSnapshot): readonly Relay[] {
  return [...statusRelays(change, after), ...proofRelays(change, after)];
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
