/** What goes into the host and what comes back. */
import type { AnyMachineSnapshot } from 'xstate';
import type { Basis } from '../../machines/basis.ts';
import type { Moment } from '../../persistence/clock.ts';
import type { ActorAddress } from '../../persistence/tables/actors.ts';
import type { JournaledOutcome } from '../../persistence/tables/journal.ts';

export interface Producer {
  readonly kind: string;
  readonly id: string;
}

/** An event as its producer knows it; the host adds the schema version, the time and, where it is missing, the id. */
export interface Draft {
  readonly type: string;
  readonly actor: ActorAddress;
  readonly producer: Producer;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Absent: the catalogue's idempotency key, prefixed with the installation; a random id where it has none. */
  readonly eventId?: string | undefined;
  /** The version of the actor that the producer has seen; 0 for one that must not exist. */
  readonly expectedVersion?: number | undefined;
  readonly basis?: Basis | undefined;
  readonly causationId?: string | undefined;
}

/** The journaled form (section E). */
export interface HostedEnvelope {
  readonly schemaVersion: 1;
  readonly eventId: string;
  readonly type: string;
  readonly actor: ActorAddress;
  readonly producer: Producer;
  readonly expectedVersion?: number;
  readonly basis?: Basis;
  readonly causationId?: string;
  readonly at: Moment;
  readonly payload: Readonly<Record<string, unknown>>;
}

/**
 * Why an event was rejected. The chart's own reasons come from `whyRejected`: `not_in_state`, `guard_refused`,
 * `unknown_event`, `terminal`.
 */
export type HostReason =
  | 'invalid_event'
  | 'unknown_actor'
  | 'actor_exists'
  | 'version_conflict'
  | 'stale_sample'
  | 'event_id_conflict'
  | 'expired_event_id'
  | 'binding_conflict'
  | 'call_rolled_back'
  | 'actor_corrupt'
  | 'definition_changed'
  | 'definition_newer'
  | 'definition_older'
  | 'machine_threw'
  | 'relay_limit';

/** What became of one event (K3, JRN-12). */
export interface Outcome {
  readonly actor: ActorAddress;
  readonly eventId: string;
  readonly type: string;
  readonly outcome: JournaledOutcome | 'duplicate' | 'rejected' | 'ignored_terminal';
  /** Version of the actor after the event, 0 when it does not exist; of a duplicate, the version when it was applied. */
  readonly version: number;
  /** Journal position of an accepted event or of the event that this one repeats. */
  readonly position?: number;
  /** What the repeated event had done. */
  readonly stored?: JournaledOutcome;
  readonly reason?: HostReason | (string & {});
  /** Guards that answered no. */
  readonly guards?: readonly string[];
  /** Names of the fields that were wrong; never their values. */
  readonly detail?: readonly string[];
  readonly relays: readonly Outcome[];
}

/** One journaled event, as listeners see it after the commit. */
export interface CommitRecord {
  readonly position: number;
  readonly actor: ActorAddress;
  readonly envelope: HostedEnvelope;
  readonly outcome: JournaledOutcome;
  readonly version: number;
  readonly before: AnyMachineSnapshot | undefined;
  readonly after: AnyMachineSnapshot;
}
