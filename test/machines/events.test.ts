import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createdBy,
  type EventType,
  isEventType,
  payloadSchemas,
  takersOf,
  typesWithBasis,
} from '../../machines/events/catalogue.ts';
import { envelopeSchema, machineEvent } from '../../machines/events/envelope.ts';
import { payloadsOf, schemaOf } from './support/arbitraryPayload.ts';
import { boot } from './support/evidence.ts';
import { type EventEntry, eventTable, laterTypes } from './tables/events.ts';

const types = Object.keys(payloadSchemas) as EventType[];
const few = { numRuns: 10 };

describe('the catalogue', () => {
  it('has exactly the events of the contract, as far as their actors exist', () => {
    expect([...types].sort()).toEqual(Object.keys(eventTable).sort());
    expect(laterTypes.filter(isEventType)).toEqual([]);
    expect(isEventType('toString')).toBe(false);
  });

  it.each(Object.entries(eventTable) as Array<[EventType, EventEntry]>)(
    'sends %s to the right actors, with the basis where it needs one (OCC-02)',
    (type, { takers, creates, basis }) => {
      expect(takersOf(type)).toEqual(takers);
      expect(createdBy(type)).toBe(creates ? takers[0] : undefined);
      expect(typesWithBasis.has(type)).toBe(basis ?? false);
    },
  );

  it('names events as a noun and a verb, at most 64 characters long', () => {
    expect(types.filter((type) => !/^[a-z][A-Za-z]*\.[a-z][A-Za-z]*$/.test(type) || type.length > 64)).toEqual([]);
  });
});

describe.each(types)('the payload of %s (JRN-03)', (type) => {
  const schema = payloadSchemas[type];
  const { properties = {}, required = [], additionalProperties } = schemaOf(type);

  it('has a JSON Schema that knows every field and no others', () => {
    expect(additionalProperties).toBe(false);
    expect(Object.keys(properties).sort()).toEqual(Object.keys(schema.shape).sort());
  });

  it('takes whatever fits the schema, unchanged', () => {
    fc.assert(
      fc.property(payloadsOf(type), (payload) => {
        expect(schema.parse(payload)).toEqual(payload);
      }),
      few,
    );
  });

  it('refuses an unknown field, a missing one and one of another type', () => {
    fc.assert(
      fc.property(payloadsOf(type), (payload) => {
        expect(schema.safeParse({ ...payload, surprise: 1 }).success).toBe(false);
        for (const field of required) {
          const { [field]: _, ...without } = payload;
          expect(schema.safeParse(without).success, `without ${field}`).toBe(false);
        }
        for (const field of Object.keys(properties)) {
          expect(schema.safeParse({ ...payload, [field]: () => {} }).success, `${field} a function`).toBe(false);
        }
      }),
      { numRuns: 5 },
    );
  });
});

describe('the envelope (JRN-03)', () => {
  const envelope = {
    schemaVersion: 1,
    eventId: 'I1:rel:S1',
    type: 'launch.releaseCommitted',
    actor: { kind: 'executionScope', id: 'S1' },
    producer: { kind: 'daemon', id: 'I1' },
    at: { wallMs: 1, monoMs: 2, bootId: boot },
    payload: {},
  };

  it('is taken as it is', () => {
    expect(envelopeSchema.parse(envelope)).toEqual(envelope);
  });

  it.each(Object.keys(envelope))('is refused without %s', (field) => {
    expect(envelopeSchema.safeParse({ ...envelope, [field]: undefined }).success).toBe(false);
  });

  it.each<readonly [string, object]>([
    ['an unknown field', { surprise: 1 }],
    ['another schema version', { schemaVersion: 2 }],
    ['a type that is no noun and verb', { type: 'Launch' }],
    ['an actor of no kind that is known', { actor: { kind: 'daemon', id: 'D' } }],
    ['an unknown field of its actor', { actor: { kind: 'run', id: 'R1', name: 'x' } }],
    ['a moment without a boot', { at: { wallMs: 1, monoMs: 2 } }],
    ['a basis that is not whole', { basis: { goalId: 'G1', occurrence: 1 } }],
    ['an event id that is too long', { eventId: 'x'.repeat(257) }],
  ])('is refused with %s', (_, change) => {
    expect(envelopeSchema.safeParse({ ...envelope, ...change }).success).toBe(false);
  });
});

describe('what a machine receives', () => {
  it('is the payload side by side with type, event id and basis', () => {
    const basis = { goalId: 'G1', occurrence: 1, step: 'plan', nodeId: 'N1', round: 0, claimId: null } as never;
    const given = { type: 'claim.recorded', eventId: 'e', payload: { claimId: 'C1' } };
    expect(machineEvent(given)).toEqual({ claimId: 'C1', type: 'claim.recorded', eventId: 'e' });
    expect(machineEvent({ ...given, basis })).toEqual({ claimId: 'C1', basis, type: 'claim.recorded', eventId: 'e' });
  });

  it('cannot be renamed by a field of the payload', () => {
    const basis = { goalId: 'G1' } as never;
    const payload = { type: 'run.ended', eventId: 'other', basis: 'forged' };
    expect(machineEvent({ type: 'a.b', eventId: 'e', payload, basis })).toEqual({ type: 'a.b', eventId: 'e', basis });
  });

  it('has no field that a payload could take for something else', () => {
    const taken = types.flatMap((type) => Object.keys(payloadSchemas[type].shape).filter((field) => isReserved(field)));
    expect(taken).toEqual([]);
  });
});

const isReserved = (field: string): boolean => ['type', 'eventId', 'basis', '__proto__'].includes(field);
