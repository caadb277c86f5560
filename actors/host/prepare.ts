/**
 * From a draft to something that can be applied: validated once against the catalogue, dated, identified and measured
 * (JRN-03). A refused draft keeps its place in the call, so that its refusal is recorded like any other.
 */
import { hash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Basis, basisSchema } from '../../machines/basis.ts';
import { canonicalJson } from '../../machines/canonical.ts';
import { type EventType, typesWithBasis } from '../../machines/events/catalogue.ts';
import type { MachineEvent } from '../../machines/events/envelope.ts';
import type { Moment } from '../../persistence/clock.ts';
import type { Draft, HostedEnvelope } from './outcome.ts';
import type { EventTypeEntry, PayloadVerdict, Protocol } from './protocol.ts';

export interface Prepared {
  readonly valid: true;
  readonly envelope: HostedEnvelope;
  /** JSON text of the envelope, as it will be journaled. */
  readonly text: string;
  /** Over what a repeat must repeat: type, payload and basis. Producer and time may differ (JRN-05). */
  readonly payloadDigest: string;
  readonly event: MachineEvent;
  readonly creates: string | undefined;
}

export interface Invalid {
  readonly valid: false;
  readonly actor: { readonly kind: string; readonly id: string };
  readonly eventId: string;
  readonly type: string;
  readonly detail: readonly string[];
}

export interface Preparation {
  readonly catalogue: Protocol['catalogue'];
  readonly installationId: string;
  readonly payloadBytes: number;
}

const draftSchema = z.strictObject({
  type: z.string().min(1).max(128),
  actor: z.strictObject({ kind: z.string().min(1).max(64), id: z.string().min(1).max(64) }),
  producer: z.strictObject({ kind: z.string().min(1).max(64), id: z.string().min(1).max(128) }),
  /** Its own schema says what it must be. */
  payload: z.unknown(),
  eventId: z.string().min(1).max(256).optional(),
  expectedVersion: z.int().min(0).optional(),
  basis: basisSchema.optional(),
  causationId: z.string().max(256).optional(),
});

/** `at` is the moment of the submission. Never throws for what a draft contains. */
export function prepare(draft: Draft, at: Moment, how: Preparation): Prepared | Invalid {
  const frame = draftSchema.safeParse(draft);
  if (!frame.success) return invalid(draft, fieldsOf(frame));
  const { type, actor, basis } = frame.data;
  const entry = entryOf(how, type);
  if (entry === undefined) return invalid(draft, ['type: unknown']);
  if (!entry.actors.includes(actor.kind)) return invalid(draft, ['actor.kind: does not take this type']);
  if (basis === undefined && typesWithBasis.has(type as EventType)) return invalid(draft, ['basis: missing']);
  const verdict = entry.payload.safeParse(draft.payload);
  if (!verdict.success) return invalid(draft, fieldsOf(verdict, 'payload'));
  const payload = verdict.data as HostedEnvelope['payload'];
  const payloadText = canonicalJson(payload);
  if (isLonger(payloadText, how.payloadBytes)) {
    return invalid(draft, [`payload: over ${how.payloadBytes} bytes`]);
  }
  const { producer, expectedVersion, causationId } = frame.data;
  const eventId = frame.data.eventId ?? eventIdOf({ type, entry, payload, actorId: actor.id, ...how });
  // JSON leaves out what is undefined, and the text is what is journaled.
  const head = { schemaVersion: 1, eventId, type, actor, producer, expectedVersion, basis, causationId, at };
  return {
    valid: true,
    envelope: { ...head, payload } as HostedEnvelope,
    text: `${JSON.stringify(head).slice(0, -1)},"payload":${payloadText}}`,
    payloadDigest: digestOf(type, payloadText, basis),
    event: basis ? { ...payload, basis, type, eventId } : { ...payload, type, eventId },
    creates: entry.creates,
  };
}

/** A UTF-16 unit takes at most three bytes, so hardly any text has to be counted. */
const isLonger = (text: string, bytes: number): boolean => text.length * 3 > bytes && Buffer.byteLength(text) > bytes;

/** Over the canonical JSON of the list of its parts. */
function digestOf(type: string, payloadText: string, basis: Basis | undefined): string {
  const basisText = basis === undefined ? '' : `,${canonicalJson(basis)}`;
  return hash('sha256', `[${JSON.stringify(type)},${payloadText}${basisText}]`, 'hex');
}

/** undefined for a type that does not exist; `constructor` is not one. */
export function entryOf({ catalogue }: Pick<Preparation, 'catalogue'>, type: string): EventTypeEntry | undefined {
  return Object.hasOwn(catalogue, type) ? catalogue[type] : undefined;
}

export interface Fact {
  readonly type: string;
  readonly entry: EventTypeEntry;
  readonly payload: unknown;
  readonly actorId: string;
  readonly installationId: string;
}

/** The catalogue's key makes a repeat recognisable whoever repeats it; the installation keeps keys of others apart. */
export function eventIdOf(fact: Fact): string {
  return keyedEventId(fact) ?? `${fact.installationId}:${fact.type}:${randomUUID()}`;
}

/** undefined where the fact has no key of its own. */
export function keyedEventId({ entry, payload, actorId, installationId }: Fact): string | undefined {
  const key = entry.idempotencyKey?.(payload, actorId);
  return key === undefined ? undefined : `${installationId}:${key}`;
}

function invalid(draft: Draft, detail: readonly string[]): Invalid {
  // The draft may be anything at all here, so nothing of it is trusted to have its type.
  const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, 256) : '');
  const { actor, eventId, type } = (draft ?? {}) as Partial<Draft>;
  return {
    valid: false,
    actor: { kind: text(actor?.kind), id: text(actor?.id) },
    eventId: text(eventId),
    type: text(type),
    detail: detail.slice(0, 16),
  };
}

/** `payload.code: invalid_type`: where and what kind of mistake, without the value, which may be private. */
function fieldsOf(verdict: PayloadVerdict, prefix?: string): string[] {
  if (verdict.success) return [];
  return verdict.error.issues.map(({ code, path }) => {
    const where = [...(prefix ? [prefix] : []), ...path.map(String)].join('.').slice(0, 200);
    return `${where || 'event'}: ${code}`;
  });
}
