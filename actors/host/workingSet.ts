/**
 * What the open transaction has changed so far. It shadows the cache of committed snapshots, so that nothing uncommitted
 * can be seen outside, and it can be taken back to a mark when a call is rolled back to its savepoint.
 */
import type { ActorAddress, ActorKeys, ActorsTable, Chart } from '../../persistence/tables/actors.ts';
import type { NewEffectRow } from '../../persistence/tables/outbox.ts';
import type { Load, Loaded } from './loader.ts';
import type { CommitRecord } from './outcome.ts';
import type { HostedDefinition } from './protocol.ts';
import { addressKey, type SnapshotCache } from './snapshotCache.ts';

export interface CommittedEffect extends NewEffectRow {
  readonly actor: ActorAddress;
}

export interface Mark {
  readonly position: number;
  readonly records: number;
  readonly effects: number;
  readonly puts: number;
}

export interface WorkingSet {
  /** Every call gets a savepoint, also one that is expected to need none. */
  readonly isCareful: boolean;
  load(definition: HostedDefinition, id: string): Loaded | undefined;
  put(loaded: Loaded): void;
  /** Drops what is believed about an actor whose row turned out to be different. */
  forget(address: ActorAddress): void;
  nextPosition(): number;
  /** Keys for the row of an actor that is created. */
  keysFor(chart: Chart): ActorKeys;
  addRecord(record: CommitRecord): void;
  addEffect(effect: NewEffectRow, actor: ActorAddress): void;
  mark(): Mark;
  rollBack(to: Mark): void;
  readonly records: readonly CommitRecord[];
  readonly effects: readonly CommittedEffect[];
  /** The changed actors, for the cache; call after COMMIT only. */
  changed(): Iterable<Loaded>;
}

export interface WorkingSetParts {
  readonly cache: SnapshotCache;
  readonly load: Load;
  readonly lastPosition: number;
  readonly actors: Pick<ActorsTable, 'lastKey' | 'definitionKey'>;
  readonly isCareful: boolean;
}

export function createWorkingSet({ cache, load, lastPosition, actors, isCareful }: WorkingSetParts): WorkingSet {
  let position = lastPosition;
  // Asked for once in a transaction, and again after a part of it was rolled back, because rows may have gone with it.
  let lastActor: number | undefined;
  const definitionKeys = new Map<string, number>();
  const current = new Map<string, Loaded>();
  const puts: Array<readonly [key: string, previous: Loaded | undefined]> = [];
  const records: CommitRecord[] = [];
  const effects: CommittedEffect[] = [];

  return {
    isCareful,
    records,
    effects,
    load(definition, id) {
      const address = { kind: definition.kind, id };
      const known = current.get(addressKey(address)) ?? cache.get(address);
      if (known !== undefined) return known;
      if (cache.isAbsent(address)) return undefined;
      const loaded = load(definition, id);
      if (loaded !== undefined) cache.set(loaded);
      return loaded;
    },
    put(loaded) {
      const key = addressKey(loaded);
      puts.push([key, current.get(key)]);
      current.set(key, loaded);
    },
    forget(address) {
      current.delete(addressKey(address));
      cache.delete(address);
    },
    nextPosition() {
      position += 1;
      return position;
    },
    keysFor(chart) {
      const definition = definitionKeys.get(chart.kind) ?? actors.definitionKey(chart);
      definitionKeys.set(chart.kind, definition);
      lastActor = (lastActor ?? actors.lastKey()) + 1;
      return { actor: lastActor, definition };
    },
    addRecord: (record) => void records.push(record),
    addEffect: (effect, actor) => void effects.push({ ...effect, actor }),
    mark: () => ({ position, records: records.length, effects: effects.length, puts: puts.length }),
    rollBack(to) {
      position = to.position;
      lastActor = undefined;
      definitionKeys.clear();
      records.length = to.records;
      effects.length = to.effects;
      while (puts.length > to.puts) {
        const [key, previous] = puts.pop() as (typeof puts)[number];
        if (previous === undefined) current.delete(key);
        else current.set(key, previous);
      }
    },
    changed: () => current.values(),
  };
}
