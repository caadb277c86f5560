/** One actor that is being explained, and what the part that knows its kind says of it. */

import type { SnapshotOf } from '../../actors/runtime/actorAccess.ts';
import type { EventType } from '../../machines/events/catalogue.ts';
import type { ActorKind } from '../../machines/ids.ts';
import type { Ending, GuardAnswer } from './explanation.ts';
import type { ExplainSource } from './source.ts';

export interface Subject<Kind extends ActorKind> {
  readonly source: ExplainSource;
  readonly id: string;
  readonly snapshot: SnapshotOf[Kind];
  readonly next: readonly GuardAnswer[];
}

export interface About {
  /** A sentence: what it is and whom it serves. Where it stands, the chart's own descriptions say. */
  readonly what: string;
  /** Sentences; none where nothing is waited for. */
  readonly waitsFor: readonly string[];
  /** Events that would bring it on from here, most useful first; those that the state does not take are left out. */
  readonly helps: readonly EventType[];
  /** Of these, the ones that help by being noted; the others only where they lead somewhere. */
  readonly notes?: readonly EventType[];
  /** Events that somebody expects to be taken here, so that a guard that refuses them is news. */
  readonly wants?: readonly EventType[];
  /** How it ended, or is about to. */
  readonly ending?: Ending | null;
  /** What else a person should know: facts on record that no event waits for. */
  readonly facts?: readonly string[];
}
