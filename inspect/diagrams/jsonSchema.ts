/** The payloads of every event that an actor of a kind takes, as one JSON Schema (draft 2020-12), out of what validates them. */
import type { ActorDefinition } from '../../machines/definition.ts';
import {
  createdBy,
  type EventType,
  isEventType,
  payloadJsonSchema,
  payloadSchemas,
} from '../../machines/events/catalogue.ts';

/** Every event type that the chart takes, after the one that creates the actor. */
export function eventsOf({ kind, machine }: Pick<ActorDefinition, 'kind' | 'machine'>): readonly EventType[] {
  const creating = (Object.keys(payloadSchemas) as EventType[]).filter((type) => createdBy(type) === kind);
  return [...creating, ...(machine.events as readonly string[]).filter(isEventType)];
}

export function jsonSchemaOf(definition: ActorDefinition): string {
  const types = eventsOf(definition);
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `Events of ${definition.kind}, version ${definition.version}`,
    oneOf: types.map((type) => ({
      type: 'object',
      properties: { type: { const: type }, payload: { $ref: `#/$defs/${type}` } },
      required: ['type', 'payload'],
    })),
    $defs: Object.fromEntries(types.map((type) => [type, withoutDialect(payloadJsonSchema(type))])),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** The whole document names it once. */
function withoutDialect(schema: unknown): unknown {
  const { $schema: _, ...rest } = schema as Record<string, unknown>;
  return rest;
}
