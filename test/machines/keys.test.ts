import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EventType, payloadSchemas } from '../../machines/events/catalogue.ts';
import { envelopeSchema } from '../../machines/events/envelope.ts';
import { idempotencyKey } from '../../machines/events/keys.ts';
import { actorKinds } from '../../machines/ids.ts';
import { type JsonSchema, payloadsOf, schemaOf } from './support/arbitraryPayload.ts';
import { type EventEntry, eventTable } from './tables/events.ts';

type AnyPayload = Record<string, unknown>;

const keyOf = (type: EventType, payload: AnyPayload, actorId: string) =>
  idempotencyKey(type, payload as never, actorId);
/** Ids are opaque, so they may contain what keys are put together with. */
const ids = fc.constantFrom('S1', 'S2', 'a:b', 'a');
const few = { numRuns: 10 };

const entries = Object.entries(eventTable) as Array<[EventType, EventEntry]>;
const keyed = entries.filter(([, { fact }]) => fact !== 'sender');
const unkeyed = entries.filter(([, { fact }]) => fact === 'sender');

const factFields = ({ fact }: EventEntry): readonly string[] => (fact === 'none' || fact === 'sender' ? [] : fact);
const pick = (payload: AnyPayload, fields: readonly string[]): AnyPayload =>
  Object.fromEntries(fields.map((field) => [field, payload[field]]));

describe.each(keyed)('the key of %s', (type, entry) => {
  const fields = factFields(entry);

  it('is the same for the same fact, whatever else the payload says', () => {
    fc.assert(
      fc.property(payloadsOf(type), payloadsOf(type), ids, (payload, other, actorId) => {
        const again = { ...other, ...pick(payload, fields) };
        expect(keyOf(type, again, actorId)).toBe(keyOf(type, payload, actorId));
      }),
      few,
    );
  });

  it('differs where one part of the fact does', () => {
    fc.assert(
      fc.property(payloadsOf(type), payloadsOf(type), ids, (payload, other, actorId) => {
        for (const field of fields) {
          if (payload[field] === other[field]) continue;
          expect(keyOf(type, { ...payload, [field]: other[field] }, actorId)).not.toBe(keyOf(type, payload, actorId));
        }
      }),
      few,
    );
  });

  it('fits an event id with everything as long as it may be', () => {
    const [payload = {}] = fc.sample(payloadsOf(type), { numRuns: 1, seed: 7 });
    const { properties = {} } = schemaOf(type);
    const longest = fields.map((field) => [field, longestOf(properties[field], payload[field])]);
    const key = keyOf(type, { ...payload, ...Object.fromEntries(longest) }, ourId);
    expect(envelopeSchema.shape.eventId.safeParse(`${ourId}:${key}`).success).toBe(true);
  });
});

/** Ids are a letter and ten characters; their schemas leave room for those of other programs. */
const ourId = 'x'.repeat(11);

function longestOf(schema: JsonSchema | undefined, value: unknown): unknown {
  if (schema?.type !== 'string' || schema.pattern !== undefined || schema.enum !== undefined) return value;
  return schema.maxLength === 64 ? ourId : 'x'.repeat(schema.maxLength ?? 1_000);
}

describe('keys of one actor', () => {
  it.each(actorKinds)('never meet those of another type: %s', (kind) => {
    const taken = keyed.filter(([, { takers }]) => takers.includes(kind)).map(([type]) => type);
    const prefixes = taken.map((type) => {
      const [payload = {}] = fc.sample(payloadsOf(type), { numRuns: 1, seed: 7 });
      return keyOf(type, payload, 'A')?.split(':')[0];
    });
    expect(new Set(prefixes).size).toBe(taken.length);
    expect(prefixes).not.toContain(undefined);
  });
});

it.each(unkeyed)('%s has none: the sender brings the request id, the sequence number or the count', (type) => {
  const [payload = {}] = fc.sample(payloadsOf(type), { numRuns: 1, seed: 7 });
  expect(keyOf(type, payload, 'A')).toBeUndefined();
});

it('knows a key or the lack of one for every event', () => {
  expect(keyed.length + unkeyed.length).toBe(Object.keys(payloadSchemas).length);
});
