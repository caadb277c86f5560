/** The most recently used committed actors; what is not in here costs a row and a fraction of a millisecond. */
import type { ActorAddress } from '../../persistence/tables/actors.ts';
import type { Loaded } from './loader.ts';

export const addressKey = ({ kind, id }: ActorAddress): string => `${kind}/${id}`;

export interface SnapshotCache {
  get(address: ActorAddress): Loaded | undefined;
  set(loaded: Loaded): void;
  delete(address: ActorAddress): void;
  clear(): void;
  readonly size: number;
}

export function createSnapshotCache(limit: number): SnapshotCache {
  // A Map keeps insertion order, so the first key is the least recently used one.
  const entries = new Map<string, Loaded>();
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
    set(loaded) {
      const key = addressKey(loaded);
      entries.delete(key);
      entries.set(key, loaded);
      if (entries.size <= limit) return;
      for (const oldest of entries.keys()) {
        entries.delete(oldest);
        break;
      }
    },
    delete: (address) => void entries.delete(addressKey(address)),
    clear: () => entries.clear(),
    get size() {
      return entries.size;
    },
  };
}
