/**
 * The three messages of the Stately inspection protocol (@statelyai/inspect 0.7): an actor, an event that it was sent, a
 * snapshot. A durable actor's session id is its kind and id, so that it is the same one for every client and daemon.
 */
import type { AnyMachineSnapshot } from 'xstate';
import type { CommitRecord, HostedEnvelope } from '../../../actors/host/outcome.ts';
import type { ActorKind } from '../../../machines/ids.ts';
import { definitions } from '../../../machines/registry.ts';
import { keyOf } from '../fleet/fleet.ts';
import { partyOf } from '../updates/messages.ts';

/** What clients compare with their own. */
export const protocolVersion = '0.7.2';

interface Base {
  readonly sessionId: string;
  readonly rootId: string;
  /** Wall time in ms, as text. */
  readonly createdAt: string;
  readonly id: string;
  readonly _version: string;
}

export interface InspectedSnapshot {
  readonly status: 'active' | 'done' | 'error' | 'stopped';
  readonly value?: unknown;
  readonly context?: unknown;
  readonly output?: unknown;
}

interface InspectedEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

export type InspectionMessage = Base &
  (
    | {
        readonly type: '@xstate.actor';
        readonly name: string;
        readonly snapshot: InspectedSnapshot;
        readonly definition: string | undefined;
        readonly parentId: string | undefined;
      }
    | { readonly type: '@xstate.event'; readonly event: InspectedEvent; readonly sourceId: string | undefined }
    | { readonly type: '@xstate.snapshot'; readonly event: InspectedEvent; readonly snapshot: InspectedSnapshot }
  );

/** The root that all of them have; no actor of its own. */
export const rootId = 'custody';

const base = (
  sessionId: string,
  { position, wallMs }: { readonly position: number; readonly wallMs: number },
): Base => ({
  sessionId,
  rootId,
  createdAt: String(wallMs),
  id: `${sessionId}@${position}`,
  _version: protocolVersion,
});

/** As an actor of XState would show it: done once the chart is settled (ruling 14). */
export function inspectedSnapshot(kind: ActorKind, snapshot: AnyMachineSnapshot): InspectedSnapshot {
  const { value, context, output } = snapshot;
  const status = definitions[kind].isSettled(snapshot) ? 'done' : snapshot.status;
  return { status, value, context, ...(output === undefined ? {} : { output }) };
}

const charts = new Map<ActorKind, string>();

/** JSON of the machine's config, made once: every actor of a kind brings it along. */
function definitionText(kind: ActorKind): string {
  const known = charts.get(kind);
  if (known !== undefined) return known;
  const text = JSON.stringify(definitions[kind].machine.config, (_, value) =>
    typeof value === 'function' ? { type: value.name } : value,
  );
  charts.set(kind, text);
  return text;
}

interface Standing {
  readonly position: number;
  readonly wallMs: number;
  readonly snapshot: AnyMachineSnapshot;
}

export const actorMessage = (
  address: { readonly kind: ActorKind; readonly id: string },
  at: Standing,
): InspectionMessage => ({
  ...base(keyOf(address), at),
  type: '@xstate.actor',
  name: `${address.kind} ${address.id}`,
  snapshot: inspectedSnapshot(address.kind, at.snapshot),
  definition: definitionText(address.kind),
  parentId: undefined,
});

const eventIn = ({ payload, type }: HostedEnvelope): InspectedEvent => ({ ...payload, type });

/** What one journaled event is to a client: a new actor, or an event with the snapshot that it led to. */
export function messagesOf({ position, actor, envelope, before, after }: CommitRecord): readonly InspectionMessage[] {
  const kind = actor.kind as ActorKind;
  const at = { position, wallMs: envelope.at.wallMs };
  const known = base(keyOf(actor), at);
  const event = eventIn(envelope);
  const created = before === undefined ? [actorMessage({ kind, id: actor.id }, { ...at, snapshot: after })] : [];
  return [
    ...created,
    { ...known, type: '@xstate.event', event, sourceId: partyOf(envelope.producer) },
    { ...known, type: '@xstate.snapshot', event, snapshot: inspectedSnapshot(kind, after) },
  ];
}
