/**
 * The joint states that were reached, in the order in which they were: breadth first, so that the way back from any of them
 * is the shortest. Columns of numbers and an open hash over them; an object for each would take ten times the memory.
 */

const firstRoom = 1 << 14;

function grown(column: Int32Array<ArrayBuffer>, room: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(room);
  larger.set(column);
  return larger;
}

export class StateTable {
  #room = firstRoom;
  #records = new Int32Array(firstRoom);
  #worlds = new Int32Array(firstRoom);
  #parents = new Int32Array(firstRoom);
  /** What led here: a word by its number, a move by the complement of its own. */
  #causes = new Int32Array(firstRoom);
  /** Positions plus one; zero is free. At most half of it is used. */
  #slots = new Int32Array(firstRoom * 2);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  record = (state: number): number => this.#records[state] as number;
  world = (state: number): number => this.#worlds[state] as number;
  parent = (state: number): number => this.#parents[state] as number;
  cause = (state: number): number => this.#causes[state] as number;

  /** The state of that pair, or -1. */
  find(record: number, world: number): number {
    const mask = this.#slots.length - 1;
    for (let at = hashOf(record, world) & mask; ; at = (at + 1) & mask) {
      const state = (this.#slots[at] as number) - 1;
      if (state < 0) return -1;
      if (this.#records[state] === record && this.#worlds[state] === world) return state;
    }
  }

  /** Whether it is new. */
  add(record: number, world: number, origin: { readonly parent: number; readonly cause: number }): boolean {
    const mask = this.#slots.length - 1;
    let at = hashOf(record, world) & mask;
    for (; ; at = (at + 1) & mask) {
      const state = (this.#slots[at] as number) - 1;
      if (state < 0) break;
      if (this.#records[state] === record && this.#worlds[state] === world) return false;
    }
    const state = this.#count;
    this.#records[state] = record;
    this.#worlds[state] = world;
    this.#parents[state] = origin.parent;
    this.#causes[state] = origin.cause;
    this.#slots[at] = state + 1;
    this.#count += 1;
    if (this.#count === this.#room) this.#grow();
    return true;
  }

  #grow(): void {
    this.#room *= 2;
    this.#records = grown(this.#records, this.#room);
    this.#worlds = grown(this.#worlds, this.#room);
    this.#parents = grown(this.#parents, this.#room);
    this.#causes = grown(this.#causes, this.#room);
    this.#slots = new Int32Array(this.#room * 2);
    const mask = this.#slots.length - 1;
    for (let state = 0; state < this.#count; state += 1) {
      let at = hashOf(this.record(state), this.world(state)) & mask;
      while (this.#slots[at] !== 0) at = (at + 1) & mask;
      this.#slots[at] = state + 1;
    }
  }
}

function hashOf(record: number, world: number): number {
  let mixed = Math.imul(record, 0x9e3779b1) ^ Math.imul(world + 1, 0x85ebca6b);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 13);
}
