/** The protocol as one value: everything that a runtime of durable actors has to be given. */
import type { AnyMachineSnapshot } from 'xstate';
import type { ActorDefinition } from './definition.ts';
import { effectPolicies } from './effects.ts';
import { createdBy, type EventType, payloadSchemas, takersOf } from './events/catalogue.ts';
import type { MachineEvent } from './events/envelope.ts';
import { idempotencyKey } from './events/keys.ts';
import type { ActorKind } from './ids.ts';
import { definitions } from './registry.ts';
import { whyRejected } from './rejection.ts';
import { relaysOf } from './relays.ts';
import type { GenerationSnapshot } from './worktreeGeneration.ts';

interface EventTypeEntry {
  readonly payload: (typeof payloadSchemas)[EventType];
  readonly actors: readonly ActorKind[];
  readonly creates: ActorKind | undefined;
  readonly idempotencyKey: (payload: unknown, actorId: string) => string | undefined;
}

const entryOf = (type: EventType): EventTypeEntry => ({
  payload: payloadSchemas[type],
  actors: takersOf(type),
  creates: createdBy(type),
  idempotencyKey: (payload, actorId) => idempotencyKey(type, payload as never, actorId),
});

const catalogue = Object.fromEntries(
  (Object.keys(payloadSchemas) as EventType[]).map((type) => [type, entryOf(type)]),
) as Readonly<Record<EventType, EventTypeEntry>>;

/** An admission creates the binding of a run to a generation in the same commit (BIND-01). */
function bindingOf(change: {
  readonly kind: string;
  readonly after: AnyMachineSnapshot;
  readonly event: MachineEvent;
}) {
  if (change.kind !== 'worktreeGeneration' || change.event.type !== 'run.admitted') return undefined;
  const runId = String(change.event.runId);
  const admitted = (change.after as GenerationSnapshot).context.admitted[runId];
  return admitted && { runId, epoch: admitted.epoch };
}

export const protocol = {
  definitions: definitions as Readonly<Record<ActorKind, ActorDefinition>>,
  catalogue,
  effectPolicies,
  relaysOf,
  whyRejected,
  bindingOf,
};
