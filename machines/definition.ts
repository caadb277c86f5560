/** What the host needs to know of a durable chart besides the chart: versions, creation, lookups, and when it is over. */
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { MachineEvent } from './events/envelope.ts';
import type { ActorKind } from './ids.ts';

/** JSON of a snapshot as a row holds it. */
export interface PersistedSnapshot {
  readonly value: unknown;
  readonly context: Readonly<Record<string, unknown>>;
  readonly status: string;
  readonly [field: string]: unknown;
}

export interface ActorDefinition<Snapshot extends AnyMachineSnapshot = AnyMachineSnapshot> {
  readonly kind: ActorKind;
  /** Semantic facts are exported by synchronisation, local ones never (SYNC-07). */
  readonly plane: 'semantic' | 'local';
  readonly machine: AnyStateMachine;
  /** Bumped by hand whenever a persisted shape changes; a row of another version is migrated or refused. */
  readonly version: number;
  readonly structuralHash: string;
  /** Over all regions: a terminal tag in one of them is not enough (ruling 14). */
  readonly isSettled: (snapshot: Snapshot) => boolean;
  /** Whether everything that the actor stands for is given back: capacity, worktree, artifacts (I-26). */
  readonly isReleased: (snapshot: Snapshot) => boolean;
  /** Machine input out of the event that creates the actor. */
  readonly inputOf: (event: MachineEvent) => unknown;
  /** Names under which the actor is found from another one, such as {goalId: 'G…'}; fixed at creation. */
  readonly links: (snapshot: Snapshot) => Readonly<Record<string, string>>;
  /** Pure steps from the row version that is the key to the next one. */
  readonly upcasters: Readonly<Record<number, (row: PersistedSnapshot) => PersistedSnapshot>>;
}

/** Drops the links of an actor that has none under that name. */
export function linksOf(
  candidates: Readonly<Record<string, string | null | undefined>>,
): Readonly<Record<string, string>> {
  const links: Record<string, string> = {};
  for (const [name, value] of Object.entries(candidates)) if (typeof value === 'string') links[name] = value;
  return links;
}
