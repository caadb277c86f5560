/**
 * Every event type with its payload, the actors that take it, and the key that makes a repeat recognisable (section E).
 * zod is the one source for types, validation and JSON Schema.
 */
import { z } from 'zod';
import type { ActorKind } from '../ids.ts';
import { goalEvents } from './goal.ts';
import { generationEvents, runEvents } from './run.ts';
import { scopeEvents } from './scope.ts';
import { sessionEvents } from './session.ts';
import { fenceEvents, workerEvents } from './worker.ts';

export const payloadSchemas = {
  ...goalEvents,
  ...runEvents,
  ...generationEvents,
  ...scopeEvents,
  ...sessionEvents,
  ...workerEvents,
  ...fenceEvents,
} as const;

export type EventType = keyof typeof payloadSchemas;
export type Payload<Type extends EventType> = z.infer<(typeof payloadSchemas)[Type]>;
/** The event as a machine sees it. */
export type EventOf<Type extends EventType> = {
  readonly [T in Type]: Readonly<Payload<T>> & { readonly type: T; readonly eventId: string };
}[Type];

const creators: Partial<Record<EventType, ActorKind>> = {
  'goal.created': 'goal',
  'run.reserved': 'run',
  'generation.registered': 'worktreeGeneration',
  'scope.requested': 'executionScope',
  'session.opened': 'ptySession',
  'worker.requested': 'workerIncarnation',
  'fence.established': 'recoveryFence',
};

/** Types that a machine takes although another plane's file lists them: relayed facts keep their name. */
const alsoTakenBy: Partial<Record<EventType, readonly ActorKind[]>> = {
  'workload.statusReceipt': ['run', 'executionScope', 'ptySession'],
  'scope.exitProved': ['run', 'ptySession', 'workerIncarnation'],
  'scope.unverified': ['ptySession', 'workerIncarnation'],
  'deadline.reached': ['ptySession', 'workerIncarnation'],
  'scheduler.tick': ['workerIncarnation', 'recoveryFence'],
  'launch.releaseCommitted': ['executionScope', 'ptySession'],
};

const home: readonly (readonly [Readonly<Record<string, unknown>>, ActorKind])[] = [
  [goalEvents, 'goal'],
  [runEvents, 'run'],
  [generationEvents, 'worktreeGeneration'],
  [scopeEvents, 'executionScope'],
  [sessionEvents, 'ptySession'],
  [workerEvents, 'workerIncarnation'],
  [fenceEvents, 'recoveryFence'],
];

export const isEventType = (type: string): type is EventType => Object.hasOwn(payloadSchemas, type);

export function takersOf(type: EventType): readonly ActorKind[] {
  return alsoTakenBy[type] ?? home.filter(([events]) => Object.hasOwn(events, type)).map(([, kind]) => kind);
}

/** The kind of actor that an event of this type starts, if it starts one. */
export const createdBy = (type: EventType): ActorKind | undefined => creators[type];

/** Events that only mean something together with the basis of the worker that sends them (OCC-02, OCC-03). */
export const typesWithBasis: ReadonlySet<EventType> = new Set<EventType>([
  'claim.recorded',
  'step.advanced',
  'receipt.recorded',
  'step.failed',
  'stop.settled',
  'preparation.reproduced',
  'sideEffect.started',
  'integration.leased',
  'integration.begun',
  'publication.started',
]);

/** JSON Schema (draft 2020-12) of one payload, from the very schema that validates it. */
export const payloadJsonSchema = (type: EventType): unknown => z.toJSONSchema(payloadSchemas[type], { io: 'input' });
