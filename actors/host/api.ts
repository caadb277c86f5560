/** The host as others see it, and what it is made with. */
import type { ActorRef, AnyEventObject, AnyMachineSnapshot } from 'xstate';
import type { Clock } from '../../persistence/clock.ts';
import type { Store } from '../../persistence/store.ts';
import type { ActorFilter, ActorSummary } from '../../persistence/tables/actors.ts';
import type { Effects } from './effects.ts';
import type { Failpoint } from './failpoint.ts';
import type { Fault } from './hostError.ts';
import type { CommitRecord, Draft, Outcome } from './outcome.ts';
import type { Protocol } from './protocol.ts';
import type { ReadModel } from './readModel.ts';

/** A durable actor as XState knows actors; `done` once the chart is settled (ruling 14). */
export type DurableActorRef = ActorRef<AnyMachineSnapshot, AnyEventObject>;

export interface ListFilter extends ActorFilter {
  /** Only actors that carry this link, e.g. `{ name: 'goalId', value: … }`. */
  readonly link?: { readonly name: string; readonly value: string };
}

export interface Host {
  /**
   * Applies the drafts in order, all or none of them. Resolves after the commit with one outcome per draft; rejects with
   * StoreError or HostError when nothing happened because the store or the host could not.
   */
  submit(drafts: readonly Draft[]): Promise<readonly Outcome[]>;
  /** What an event id has done so far, per actor: the answer to a repeated request. */
  applied(eventId: string): ReturnType<Store['dedup']['applied']>;
  /** Throws HostError `unknown_actor`, or why the stored actor cannot be read. */
  actor(kind: string, id: string): DurableActorRef;
  /** Reads together what somebody is about to ask for one by one; at most as many as are kept (`cachedSnapshots`). */
  preload(kind: string, ids: readonly string[]): void;
  snapshotOf(kind: string, id: string): AnyMachineSnapshot | undefined;
  versionOf(kind: string, id: string): number | undefined;
  /** Ids of the first 1 000 actors of `kind` that carry the link, oldest first; `list` pages and filters. */
  linked(kind: string, linkName: string, value: string): readonly string[];
  /** As `linked`, for many values at once; a value that nobody carries is left out. */
  linkedAny(kind: string, linkName: string, values: readonly string[]): ReadonlyMap<string, readonly string[]>;
  list(kind: string, filter?: ListFilter): readonly ActorSummary[];
  /** Called after each commit with what it journaled, in order. Returns how to stop. */
  onCommit(listener: (records: readonly CommitRecord[]) => void): () => void;
  readonly effects: Effects;
  readonly readModel: ReadModel;
  /** Writes what was submitted before, then refuses. Does not close the store. */
  close(): Promise<void>;
}

export interface Limits {
  /** Events per transaction (ruling 31). */
  readonly batchEvents: number;
  /** Calls that may wait for a transaction. */
  readonly waitingCalls: number;
  readonly payloadBytes: number;
  readonly cachedSnapshots: number;
  readonly cachedActors: number;
  readonly relayDepth: number;
  readonly relaysPerCall: number;
  readonly runningEffects: number;
  readonly retryFirstMs: number;
  readonly retryLongestMs: number;
}

/** `createHost({ ...protocol, store, clock })` with the protocol of machines/protocol.ts. */
export interface HostOptions extends Protocol {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits?: Partial<Limits>;
  readonly onFault?: (fault: Fault) => void;
  readonly failpoint?: (point: Failpoint, type?: string) => void;
}
