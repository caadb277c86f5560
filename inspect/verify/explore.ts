/** Every joint state that a configuration can reach, breadth first, until all are known, something is broken or a bound is met. */
import type { Charts } from './charts.ts';
import type { AnyConfiguration } from './model.ts';
import { Space } from './space.ts';
import { StateTable } from './stateTable.ts';

export interface Limits {
  readonly states?: number;
  /** Milliseconds from the beginning. */
  readonly forMs?: number;
  readonly onProgress?: (progress: { readonly states: number; readonly depth: number }) => void;
}

/** Where an invariant is broken: in a state, or by one more word from it. */
export interface Violation {
  readonly invariant: number;
  readonly state: number;
  /** The word that breaks it, or null where the state itself does. */
  readonly word: number | null;
}

export interface Exploration {
  readonly space: Space;
  readonly table: StateTable;
  readonly violation: Violation | null;
  readonly transitions: number;
  /** Longest of the shortest ways to a state. */
  readonly depth: number;
  /** Which bound ended it; null where every state was looked at. */
  readonly endedBy: 'states' | 'time' | null;
  /** States that lie beyond the bound of the configuration and were not gone on from. */
  readonly cut: number;
  readonly ms: number;
}

const lookEvery = 0x1ff;

class Explorer {
  readonly space: Space;
  readonly table = new StateTable();
  violation: Violation | null = null;
  transitions = 0;
  cut = 0;

  constructor(space: Space) {
    this.space = space;
    this.table.add(space.system.first, 0, { parent: -1, cause: 0 });
    this.#judge(0);
  }

  expand(state: number): void {
    const { space, table } = this;
    const record = table.record(state);
    const world = table.world(state);
    const row = space.recordRow(record);
    if (row.isBeyond) {
      this.cut += 1;
      return;
    }
    const { words, moves } = space.worldRow(world);
    for (const { move, next } of moves) {
      if (row.permits[move] !== 1 || next === world) continue;
      this.transitions += 1;
      this.#enter(record, next, { parent: state, cause: ~move });
    }
    for (const word of words) {
      const next = space.after(record, word);
      if (next < 0) continue;
      const invariant = space.brokenBy(record, word);
      if (invariant >= 0) this.violation ??= { invariant, state, word };
      if (next === record) continue;
      this.transitions += 1;
      this.#enter(next, world, { parent: state, cause: word });
    }
  }

  #enter(record: number, world: number, origin: { readonly parent: number; readonly cause: number }): void {
    if (this.table.add(record, world, origin)) this.#judge(this.table.count - 1);
  }

  #judge(state: number): void {
    const invariant = this.space.brokenIn(this.table.record(state), this.table.world(state));
    if (invariant >= 0) this.violation ??= { invariant, state, word: null };
  }
}

export function explore(configuration: AnyConfiguration, charts: Charts, limits: Limits = {}): Exploration {
  const startedAt = performance.now();
  const explorer = new Explorer(new Space(configuration, charts));
  const { table } = explorer;
  const { states = Number.POSITIVE_INFINITY, forMs = Number.POSITIVE_INFINITY, onProgress } = limits;
  let endedBy: Exploration['endedBy'] = null;
  let depth = 0;
  let levelEnd = 1;
  for (let at = 0; at < table.count && explorer.violation === null; at += 1) {
    if (at === levelEnd) {
      depth += 1;
      levelEnd = table.count;
    }
    if (table.count >= states) endedBy = 'states';
    if ((at & lookEvery) === 0) {
      if (performance.now() - startedAt > forMs) endedBy = 'time';
      onProgress?.({ states: table.count, depth });
    }
    if (endedBy !== null) break;
    explorer.expand(at);
  }
  const { space, violation, transitions, cut } = explorer;
  return { space, table, violation, transitions, depth, endedBy, cut, ms: performance.now() - startedAt };
}
