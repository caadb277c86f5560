import { describe, expect, it } from 'vitest';
import type { Loaded } from '../../actors/host/loader.ts';
import { createSnapshotCache } from '../../actors/host/snapshotCache.ts';

const address = (n: number) => ({ kind: 'run', id: `R${n}` });
const loaded = (n: number, version = 1) => ({ ...address(n), version }) as Loaded;

describe('the cache of committed snapshots', () => {
  it('keeps what was used last, and no more than its limit', () => {
    const cache = createSnapshotCache(8);
    for (let n = 1; n <= 8; n += 1) cache.set(loaded(n));
    cache.get(address(1));
    cache.set(loaded(2, 2));
    for (let n = 9; n <= 14; n += 1) cache.set(loaded(n));
    expect(cache.size).toBe(8);
    const kept = Array.from({ length: 14 }, (_, at) => at + 1).filter((n) => cache.get(address(n)) !== undefined);
    expect(kept).toEqual([1, 2, 9, 10, 11, 12, 13, 14]);
  });

  it('holds the newest of what it leaves where it is', () => {
    const cache = createSnapshotCache(8);
    for (const version of [1, 2, 3]) cache.set(loaded(1, version));
    expect(cache.get(address(1))?.version).toBe(3);
  });
});
