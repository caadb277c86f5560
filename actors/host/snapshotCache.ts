/**
 * The most recently used committed actors, and which of those looked for last there are not; what is not in here costs a
 * row and a fraction of a millisecond. It may be believed because this process is the only one that writes (ruling 17);
 * the tables refuse a write that relies on it and is wrong.
 */
import type { ActorAddress } from '../../persistence/tables/actors.ts';
import type { Loaded } from './loader.ts';

export const addressKey = ({ kind, id }: ActorAddress): string => `${kind}/${id}`;

export interface SnapshotCache {
  get(address: ActorAddress): Loaded | undefined;
  /** It was looked for, and nobody has committed it since. */
  isAbsent(address: ActorAddress): boolean;
  set(loaded: Loaded): void;
  setAbsent(address: ActorAddress): void;
  delete(address: ActorAddress): void;
  clear(): void;
  readonly size: number;
}

interface Entry {
  loaded: Loaded;
  /** Which of all moves to the end it was; one that was among the newest stays where it is, because moving costs the most. */
  movedAt: number;
}

export function createSnapshotCache(limit: number): SnapshotCache {
  // A Map keeps insertion order, so the first key is the least recently moved one.
  const entries = new Map<string, Entry>();
  const absent = new Set<string>();
  const isNew = ({ movedAt }: Entry) => moves - movedAt < limit / 4;
  let moves = 0;

  function toTheEnd(key: string, loaded: Loaded): void {
    moves += 1;
    entries.delete(key);
    entries.set(key, { loaded, movedAt: moves });
  }

  return {
    get(address) {
      const key = addressKey(address);
      const found = entries.get(key);
      if (found !== undefined && !isNew(found)) toTheEnd(key, found.loaded);
      return found?.loaded;
    },
    isAbsent: (address) => absent.has(addressKey(address)),
    set(loaded) {
      const key = addressKey(loaded);
      absent.delete(key);
      const known = entries.get(key);
      if (known !== undefined && isNew(known)) known.loaded = loaded;
      else toTheEnd(key, loaded);
      if (entries.size > limit) entries.delete(oldestOf(entries.keys()));
    },
    setAbsent(address) {
      absent.add(addressKey(address));
      if (absent.size > limit) absent.delete(oldestOf(absent.keys()));
    },
    delete(address) {
      const key = addressKey(address);
      entries.delete(key);
      absent.delete(key);
    },
    clear() {
      entries.clear();
      absent.clear();
    },
    get size() {
      return entries.size;
    },
  };
}

function oldestOf(keys: Iterable<string>): string {
  for (const oldest of keys) return oldest;
  return '';
}
