/**
 * What the host is given (machines/protocol.ts holds the real one): definitions, the event catalogue, and pure functions.
 * The host knows no event by name, so a new kind of actor needs no change here.
 */
import type { ActorDefinition } from '../../machines/definition.ts';
import type { ActorChange, Relay } from '../../machines/relays.ts';

// biome-ignore lint/suspicious/noExplicitAny: every kind has a snapshot type of its own
export type HostedDefinition = ActorDefinition<any>;

/** What the catalogue says about one event type. */
export interface EventTypeEntry {
  readonly payload: { safeParse(value: unknown): PayloadVerdict };
  /** Kinds of actor that take it. */
  readonly actors: readonly string[];
  /** The kind that it creates. */
  readonly creates?: string | undefined;
  /** The key that follows from the fact itself, where there is one. */
  // biome-ignore lint/suspicious/noExplicitAny: the payload has been validated by this very entry
  readonly idempotencyKey?: (payload: any, actorId: string) => string | undefined;
}

/** The part of a zod result that is used: values of a refused payload are never looked at. */
export type PayloadVerdict =
  | { readonly success: true; readonly data: unknown }
  | {
      readonly success: false;
      readonly error: {
        readonly issues: ReadonlyArray<{ readonly code: string; readonly path: readonly PropertyKey[] }>;
      };
    };

/** The binding that a change of a worktree generation creates, committed with it or not at all (BIND-01). */
export interface RequestedBinding {
  readonly runId: string;
  readonly epoch: number;
}

export interface Protocol {
  readonly definitions: Readonly<Partial<Record<string, HostedDefinition>>>;
  readonly catalogue: Readonly<Record<string, EventTypeEntry>>;
  readonly relaysOf: (change: ActorChange) => readonly Relay[];
  readonly bindingOf?: (change: ActorChange) => RequestedBinding | undefined;
}
