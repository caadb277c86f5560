import type { Store } from '../../../persistence/store.ts';
import type { ActorRow } from '../../../persistence/tables/actors.ts';
import type { NewEffectRow } from '../../../persistence/tables/outbox.ts';

export function actorRow(id: string, more: Partial<Omit<ActorRow, 'key'>> = {}): Omit<ActorRow, 'key'> {
  return {
    kind: 'run',
    id,
    definitionVersion: 1,
    structuralHash: 'h1',
    version: 1,
    settled: false,
    released: false,
    snapshot: `{"value":"reserved","context":{"id":"${id}"}}`,
    ...more,
  };
}

/** Adds an actor and answers with its key. */
export const addActor = (store: Store, id: string, more: Partial<Omit<ActorRow, 'key'>> = {}): number =>
  store.write(() => store.actors.insert(actorRow(id, more)) as number);

export function addEvent(
  store: Store,
  actorKey: number,
  more: { type?: string; eventId?: string; version?: number } = {},
): number {
  return store.write(() => {
    const position = store.journal.lastPosition() + 1;
    const { type = 'run.noted', eventId = `e${position}`, version = 1 } = more;
    const envelope = JSON.stringify({ type, eventId });
    store.journal.insert({ position, actorKey, eventId, type, outcome: 'changed', version, envelope });
    store.dedup.insert(eventId, actorKey, { payloadDigest: 'd', outcome: 'changed', version, position });
    return position;
  });
}

export function effectRow(actorKey: number, position: number, more: Partial<NewEffectRow> = {}): NewEffectRow {
  return {
    position,
    ordinal: 0,
    effectId: `x${position}`,
    actorKey,
    type: 'launchScope',
    policy: 'once',
    params: '{"scopeId":"S1"}',
    epoch: 1,
    startNumber: 1,
    state: 'pending',
    ...more,
  };
}
