/** Values out of a JSON Schema, as far as the catalogue's schemas go; whatever it does not know it refuses loudly. */
import fc from 'fast-check';
import { type EventType, payloadJsonSchema } from '../../../machines/events/catalogue.ts';

export interface JsonSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly propertyNames?: JsonSchema;
  readonly items?: JsonSchema;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

/** Longer texts would only make slower runs; the limits themselves are tested apart. */
const shortText = 12;
/** Most of the fields; drawing 64 characters one by one would take most of the time. */
const digestPattern = '^[0-9a-f]{64}$';

const known = new Map<EventType, fc.Arbitrary<Record<string, unknown>>>();

export const schemaOf = (type: EventType): JsonSchema => payloadJsonSchema(type) as JsonSchema;

/** Payloads of an event as its own schema describes them. */
export function payloadsOf(type: EventType): fc.Arbitrary<Record<string, unknown>> {
  const found = known.get(type) ?? (arbitraryOf(schemaOf(type)) as fc.Arbitrary<Record<string, unknown>>);
  known.set(type, found);
  return found;
}

function arbitraryOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(arbitraryOf));
  switch (schema.type) {
    case 'object':
      return objectOf(schema);
    case 'array':
      return fc.array(arbitraryOf(schema.items ?? {}), { maxLength: 3 });
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer(boundsOf(schema));
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      throw new Error(`no values for ${JSON.stringify(schema)}`);
  }
}

function objectOf({
  properties,
  required = [],
  additionalProperties,
  propertyNames,
}: JsonSchema): fc.Arbitrary<unknown> {
  if (properties === undefined) {
    const names = arbitraryOf(propertyNames ?? { type: 'string' }) as fc.Arbitrary<string>;
    return fc.dictionary(names, arbitraryOf(additionalProperties as JsonSchema), { maxKeys: 3, noNullPrototype: true });
  }
  const fields = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, arbitraryOf(schema)]));
  return fc.record(fields, { requiredKeys: [...required], noNullPrototype: true });
}

function textOf({ pattern, minLength = 0, maxLength = shortText }: JsonSchema): fc.Arbitrary<string> {
  if (pattern === digestPattern) return fc.nat().map((number) => number.toString(16).padStart(64, '0'));
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  return fc.string({
    minLength,
    maxLength: Math.max(minLength, Math.min(maxLength, shortText)),
    unit: 'grapheme-ascii',
  });
}

function boundsOf({ minimum, exclusiveMinimum, maximum }: JsonSchema): fc.IntegerConstraints {
  const low = exclusiveMinimum === undefined ? (minimum ?? -1_000) : exclusiveMinimum + 1;
  const min = Math.max(low, -1_000);
  return { min, max: Math.min(maximum ?? 1_000_000, min + 1_000_000) };
}
