/** Instants and orders that can be had again by their seed (mulberry32). */
export interface Random {
  /** From 0 on and below 1. */
  next(): number;
  /** A whole number from 0 on and below `limit`. */
  below(limit: number): number;
  shuffled<T>(items: readonly T[]): T[];
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    shuffled(items) {
      const left = [...items];
      return items.map(() => left.splice(below(left.length), 1)[0]!);
    },
  };
}
