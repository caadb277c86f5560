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

export function createSnapshotCache(limit: number): SnapshotCache {
  // A Map keeps insertion order, so the first key is the least recently used one.
  const entries = new Map<string, Loaded>();
  const absent = new Set<string>();
  return {
    get(address) {
      const key = addressKey(address);
      const found = entries.get(key);
      if (found !== undefined) {
        entries.delete(key);
        entries.set(key, found);
      }
      return found;
    },
    isAbsent: (address) => absent.has(addressKey(address)),
    set(loaded) {
      const key = addressKey(loaded);
      absent.delete(key);
      entries.delete(key);
      entries.set(key, loaded);
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
