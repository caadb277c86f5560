/** Random walks from the last states of an exploration that met its bound: not the shortest way to anything, but deeper. */
import type { Exploration, Violation } from './explore.ts';

/** mulberry32: small, and the same everywhere for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface Walks {
  readonly seed: number;
  readonly forMs: number;
  readonly steps?: number;
}

/** Goes on adding states to the table, so that a story that ends badly can be told from its beginning. */
export function walk({ space, table }: Exploration, { seed, forMs, steps = 200 }: Walks): Violation | null {
  const random = randomOf(seed);
  const startedAt = performance.now();
  while (performance.now() - startedAt < forMs) {
    let state = table.count - 1 - Math.floor(random() * Math.min(table.count, 4_096));
    for (let step = 0; step < steps; step += 1) {
      const record = table.record(state);
      const world = table.world(state);
      const row = space.recordRow(record);
      if (row.isBeyond) break;
      const { words, moves } = space.worldRow(world);
      const choice = Math.floor(random() * (words.length + moves.length));
      const move = moves[choice - words.length];
      const word = words[choice];
      let next = { record, world, cause: 0 };
      if (move !== undefined) {
        if (row.permits[move.move] !== 1) continue;
        next = { record, world: move.next, cause: ~move.move };
      } else if (word !== undefined) {
        const after = space.after(record, word);
        if (after < 0) continue;
        const invariant = space.brokenBy(record, word);
        if (invariant >= 0) return { invariant, state, word };
        next = { record: after, world, cause: word };
      }
      const isNew = table.add(next.record, next.world, { parent: state, cause: next.cause });
      const invariant = space.brokenIn(next.record, next.world);
      if (invariant >= 0) return { invariant, state: table.find(next.record, next.world), word: null };
      state = isNew ? table.count - 1 : table.find(next.record, next.world);
    }
  }
  return null;
}
