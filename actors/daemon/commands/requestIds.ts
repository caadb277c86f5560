/**
 * A request id makes a mutation idempotent (STOP-08, section F): it becomes the event id of the primary event, and the ids
 * of what the request creates follow from it, so that a repeat is the same request to the last byte.
 */
import { randomUUID } from 'node:crypto';
import type { ActorKind } from '../../../machines/ids.ts';
import type { Host } from '../../host/api.ts';
import type { HostedEnvelope } from '../../host/outcome.ts';
import { derivedId } from '../../runtime/derivedIds.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import type { Runtime } from '../../runtime/runtime.ts';

export interface RequestKey {
  readonly requestId: string;
  /** Event id of the primary event. */
  readonly eventId: string;
  /** The id, of the given kind letter, of something that this request creates. */
  idOf<Id extends string>(letter: 'G' | 'R' | 'W' | 'S' | 'P' | 'K' | 'X', what?: string): Id;
}

/** Without an id from the caller the request is new, whatever it says. */
export function requestKey(installationId: string, command: string, requestId: string | undefined): RequestKey {
  const id = requestId ?? randomUUID();
  return {
    requestId: id,
    eventId: `${installationId}:request:${id}`,
    idOf<Id extends string>(letter: string, what = ''): Id {
      return derivedId({ letter, digits: 10, of: [installationId, command, id, letter, what] });
    },
  };
}

export const reusedRequest = (requestId: string): OperatingError =>
  new OperatingError({
    code: 'event_id_conflict',
    message: `request id ${JSON.stringify(requestId)} was used before, for something else`,
    exitCode: 11,
    next: ['use a fresh --request-id'],
  });

/**
 * Whether this very request was carried out before. The host remembers event ids per actor, so an id that was used for
 * another actor has to be found out here. Throws `event_id_conflict` (exit 11) for that.
 */
export function wasApplied(
  host: Pick<Host, 'applied'>,
  { eventId, requestId }: Pick<RequestKey, 'eventId' | 'requestId'>,
  [kind, id]: readonly [ActorKind, string],
): boolean {
  const applied = host.applied(eventId);
  if (applied.length === 0) return false;
  if (applied.some(({ actor }) => actor.kind === kind && actor.id === id)) return true;
  throw reusedRequest(requestId);
}

/** What was committed for the request first; undefined when the journal does not tell it any more. */
export function firstCommitted(
  { host, store }: Pick<Runtime, 'host' | 'store'>,
  { eventId }: Pick<RequestKey, 'eventId'>,
): Pick<HostedEnvelope, 'type' | 'payload'> | undefined {
  const [first] = host.applied(eventId);
  if (first === undefined) return undefined;
  const [entry] = store.journal.page({ after: first.position - 1, limit: 1 });
  if (!entry?.intact || entry.eventId !== eventId) return undefined;
  const { type, payload } = entry.envelope as HostedEnvelope;
  return { type, payload };
}
