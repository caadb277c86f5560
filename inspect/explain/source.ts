/** What an explanation is made from: committed snapshots and the journal, of a daemon or of a store that is only read. */
import type { AnyMachineSnapshot } from 'xstate';
import type { ActorKind } from '../../machines/ids.ts';
import type { JournalEntry } from '../../persistence/tables/journal.ts';

export interface ExplainSource {
  /** Throws HostError where the record cannot be trusted; undefined where there is none. */
  snapshotOf(kind: ActorKind, id: string): AnyMachineSnapshot | undefined;
  versionOf(kind: ActorKind, id: string): number | undefined;
  /** Ids of the actors that carry the link, oldest first, the first 1 000. */
  linked(kind: ActorKind, link: string, value: string): readonly string[];
  /** The newest entries of one actor, newest first. */
  newest(kind: ActorKind, id: string, limit: number): readonly JournalEntry[];
  /** Which machine this is, in the sense of a Goal's `nodeId`. */
  readonly nodeId: string;
  /** Whether a launch in flight belongs to the daemon that serves; nothing is in flight where none does. */
  isLaunchedHere(scopeId: string): boolean;
}
