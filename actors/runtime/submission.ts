/** Typed drafts for the host, and what a refusal means to whoever asked. */
import type { Basis } from '../../machines/basis.ts';
import type { EventType, Payload } from '../../machines/events/catalogue.ts';
import type { ActorKind } from '../../machines/ids.ts';
import type { Draft, Outcome } from '../host/outcome.ts';
import { OperatingError, type OperatingErrorFields } from './operatingError.ts';

export interface Said<Type extends EventType> {
  /** To whom: actor kind and id. */
  readonly to: readonly [kind: ActorKind, id: string];
  readonly payload: Payload<Type>;
  /** The role that speaks; which process of this installation it was follows from the journal's start number. */
  readonly by: string;
  readonly eventId?: string | undefined;
  readonly expectedVersion?: number | undefined;
  readonly basis?: Basis;
}

export function draft<Type extends EventType>(type: Type, { to: [kind, id], payload, by, ...rest }: Said<Type>): Draft {
  return { type, actor: { kind, id }, payload, producer: { kind: by, id: by }, ...rest };
}

export const wasAccepted = ({ outcome }: Outcome): boolean => outcome !== 'rejected' && outcome !== 'ignored_terminal';

/** What was refused first for a reason of its own; what was only taken back along with it has none. */
export const firstRefusal = (outcomes: readonly Outcome[]): Outcome | undefined =>
  outcomes.find((outcome) => !wasAccepted(outcome) && outcome.reason !== 'call_rolled_back') ??
  outcomes.find((outcome) => !wasAccepted(outcome));

/** Throws the operating error that the first refusal amounts to. */
export function assertAccepted(outcomes: readonly Outcome[], next: readonly string[] = []): void {
  const refused = firstRefusal(outcomes);
  if (refused) throw refusal(refused, next);
}

const conflicts: Readonly<Record<string, string>> = {
  version_conflict: 'the actor has changed meanwhile',
  event_id_conflict: 'this request id was used before, for something else',
  expired_event_id: 'this event id is older than those that are still known, so it may have been applied before',
  binding_conflict: 'the run is bound to another worktree generation',
  actor_exists: 'it exists already',
  stale_sample: 'the record changed while it was sampled',
};

/** Guards whose refusal has a meaning of its own in the table of exit codes. */
const byGuard: Readonly<Record<string, Pick<OperatingErrorFields, 'code' | 'exitCode' | 'message'>>> = {
  revisionExpected: { code: 'revision_conflict', exitCode: 11, message: 'the Goal has another revision by now' },
  hasAuthoredRound: { code: 'preconditions_unmet', exitCode: 13, message: 'the Goal was added without a request' },
  basisCurrent: { code: 'superseded', exitCode: 12, message: 'the basis is no longer current' },
  'in authority.managed': { code: 'not_controller', exitCode: 4, message: 'another subsystem controls this worktree' },
};

export function refusal(
  { actor, type, reason = 'rejected', guards = [], detail, outcome }: Outcome,
  next: readonly string[],
): OperatingError {
  const details = { actor, event: type, reason, guards, ...(detail ? { detail } : {}) };
  const conflict = conflicts[reason];
  if (conflict)
    return new OperatingError({ code: reason, message: `${actor.id}: ${conflict}`, exitCode: 11, next, details });
  if (reason === 'invalid_event') {
    const message = `the event ${type} is not valid: ${(detail ?? []).join(', ')}`;
    return new OperatingError({ code: 'invalid_event', message, exitCode: 2, next, details });
  }
  if (reason === 'unknown_actor')
    return new OperatingError({
      code: 'not_found',
      message: `there is no ${actor.kind} ${actor.id}`,
      exitCode: 3,
      next,
      details,
    });
  if (reason === 'actor_corrupt' || reason.startsWith('definition_')) {
    const message = `the stored record of ${actor.id} cannot be used: ${reason}`;
    return new OperatingError({ code: reason, message, exitCode: 9, next: ['custody doctor', ...next], details });
  }
  const special = guards.map((guard) => byGuard[guard]).find(Boolean);
  if (special) return new OperatingError({ ...special, message: `${actor.id}: ${special.message}`, next, details });
  const plain = reason === 'not_in_state' ? 'it is in no state for that' : reason;
  const why = outcome === 'ignored_terminal' ? 'it is over' : guards.length > 0 ? guards.join(', ') : plain;
  return new OperatingError({
    code: 'preconditions_unmet',
    message: `${type} is not possible for ${actor.id} now: ${why}`,
    exitCode: 13,
    next,
    details,
  });
}
