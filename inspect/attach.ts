/**
 * For tests in this repository: shows the durable actors of a host to an inspector of @statelyai/inspect, or to anything else
 * that takes its three calls, in the way in which it is shown the actors of XState itself.
 */
import type { AnyMachineSnapshot } from 'xstate';
import type { Host } from '../actors/host/api.ts';
import { actorKinds } from '../machines/ids.ts';
import { keyOf } from './server/fleet/fleet.ts';
import { type InspectedSnapshot, inspectedSnapshot } from './server/stately/protocol.ts';
import { partyOf } from './server/updates/messages.ts';

/** What `createInspector`, `createWebSocketInspector` and the others of that package return. */
export interface InspectorLike {
  actor(id: string, snapshot?: InspectedSnapshot, info?: { readonly definition?: string }): void;
  event(id: string, event: { readonly type: string }, info?: { readonly source?: string }): void;
  snapshot(id: string, snapshot: InspectedSnapshot, info?: { readonly event?: { readonly type: string } }): void;
}

type Shown = (kind: (typeof actorKinds)[number], snapshot: AnyMachineSnapshot) => InspectedSnapshot;

const shown: Shown = (kind, snapshot) => inspectedSnapshot(kind, snapshot);

/** From now on; what is there already is told of once. Returns how to stop. */
export function attachInspector(
  host: Pick<Host, 'onCommit' | 'list' | 'snapshotOf'>,
  inspector: InspectorLike,
): () => void {
  for (const kind of actorKinds) {
    for (const { id } of host.list(kind, { released: false, limit: 1_000 })) {
      const snapshot = host.snapshotOf(kind, id);
      if (snapshot !== undefined) inspector.actor(keyOf({ kind, id }), shown(kind, snapshot));
    }
  }
  return host.onCommit((records) => {
    for (const { actor, envelope, before, after } of records) {
      const kind = actor.kind as (typeof actorKinds)[number];
      const key = keyOf(actor);
      const event = { ...envelope.payload, type: envelope.type };
      if (before === undefined) inspector.actor(key, shown(kind, after));
      inspector.event(key, event, { source: partyOf(envelope.producer) });
      inspector.snapshot(key, shown(kind, after), { event });
    }
  });
}
