/** Journaled events as messages between parties. */
import type { HostedEnvelope } from '../../../actors/host/outcome.ts';
import { actorKinds } from '../../../machines/ids.ts';
import type { Message } from '../contract.ts';
import { keyOf } from '../fleet/fleet.ts';

const kinds: ReadonlySet<string> = new Set(actorKinds);

export interface Journaled {
  readonly position: number;
  readonly envelope: HostedEnvelope;
  readonly outcome: string;
  /** Where the receiver stands afterwards; null where nobody knows any more. */
  readonly state: readonly string[] | null;
}

/** An actor that passes something on is its producer; everybody else stands outside. */
export const partyOf = (producer: HostedEnvelope['producer']): string =>
  kinds.has(producer.kind) ? keyOf(producer) : `producer:${keyOf(producer)}`;

/**
 * `positionOf` answers with the journal position of an event of an actor, if it knows one. Something that is passed on
 * names what it follows from; what comes from outside does so only where its producer has said it.
 */
export function messageOf(
  { position, envelope, outcome, state }: Journaled,
  positionOf: (eventId: string, actor: string | undefined) => number | undefined,
): Message {
  const { producer, actor, type, at, causationId } = envelope;
  const relayed = causationId !== undefined && kinds.has(producer.kind);
  const source = relayed ? keyOf(producer) : undefined;
  return {
    position,
    from: partyOf(producer),
    to: keyOf(actor),
    type,
    wallMs: at.wallMs,
    outcome,
    state,
    cause: causationId === undefined ? null : (positionOf(causationId, source) ?? null),
    relayed,
  };
}

/** Remembers where events stand, for those that follow from them. Bounded: what is older is asked for elsewhere. */
export class Positions {
  readonly #known = new Map<string, number>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  note(eventId: string, actor: string, position: number): void {
    this.#known.set(`${actor} ${eventId}`, position);
    const [oldest] = this.#known.keys();
    if (this.#known.size > this.#most && oldest !== undefined) this.#known.delete(oldest);
  }

  of(eventId: string, actor: string | undefined): number | undefined {
    return actor === undefined ? undefined : this.#known.get(`${actor} ${eventId}`);
  }
}
