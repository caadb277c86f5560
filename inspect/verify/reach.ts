/**
 * Liveness on the states that were explored: from every state in which something is owed, a state in which it is paid can
 * still be reached by a fair world. That it can is what a chart has to see to; that it will is up to the daemon's loops.
 */
import type { Exploration } from './explore.ts';
import type { Prospect } from './model.ts';

// biome-ignore lint/suspicious/noExplicitAny: every configuration has a truth of its own
type AnyProspect = Prospect<any>;

/** A state from which the prospect is lost, or -1. Only for an exploration that was not cut short. */
export function lostState({ space, table }: Exploration, { from, to, without }: AnyProspect): number {
  const { words, moves } = space.configuration;
  const unfair = new Set(without);
  const isFairWord = words.map(({ name }) => !unfair.has(name));
  const isFairMove = moves.map(({ name }) => !unfair.has(name));
  const isGood = new Uint8Array(table.count);
  const asked = (state: number, question: AnyProspect['from']) =>
    question(space.system.records(table.record(state)), space.truth(table.world(state)));
  for (let state = 0; state < table.count; state += 1) if (asked(state, to)) isGood[state] = 1;
  const leadsToGood = (state: number): boolean => {
    const record = table.record(state);
    const world = table.world(state);
    const row = space.recordRow(record);
    // What lies beyond the bound was not explored, so nothing is known to be lost there.
    if (row.isBeyond) return true;
    const worldRow = space.worldRow(world);
    for (const { move, next } of worldRow.moves)
      if (isFairMove[move] && row.permits[move] === 1 && isGood[table.find(record, next)] === 1) return true;
    for (const word of worldRow.words) {
      const after = isFairWord[word] ? space.after(record, word) : -1;
      if (after >= 0 && isGood[table.find(after, world)] === 1) return true;
    }
    return false;
  };
  // Later states lie nearer to the end, so going backwards settles most of them in one pass.
  for (let isChanging = true; isChanging; ) {
    isChanging = false;
    for (let state = table.count - 1; state >= 0; state -= 1) {
      if (isGood[state] === 1 || !leadsToGood(state)) continue;
      isGood[state] = 1;
      isChanging = true;
    }
  }
  for (let state = 0; state < table.count; state += 1) if (isGood[state] === 0 && asked(state, from)) return state;
  return -1;
}
