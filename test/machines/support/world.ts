/**
 * What is true behind the records of one launch: processes, receipts on disk, the boot. It moves by itself; events are
 * only ever sightings of it, or lies. Invariants about reality (I-02, I-04, I-15) are judged here.
 */
export interface World {
  readonly guardian: 'none' | 'alive' | 'dead';
  readonly root: 'none' | 'gated' | 'alive' | 'dead';
  /** Somebody who left the root's session and lives on. */
  readonly escapee: boolean;
  /** The image executed its first instruction. */
  readonly ran: boolean;
  readonly statusReceipt: boolean;
  readonly exitReceipt: boolean;
  readonly rebooted: boolean;
}

export const emptyWorld: World = {
  guardian: 'none',
  root: 'none',
  escapee: false,
  ran: false,
  statusReceipt: false,
  exitReceipt: false,
  rebooted: false,
};

/** What the scope's record permits: nothing is spawned before the launch is prepared, or released without the intent. */
export interface Permits {
  readonly spawn: boolean;
  readonly openGate: boolean;
}

export const isTreeAlive = ({ root, escapee }: World): boolean => root === 'gated' || root === 'alive' || escapee;

interface Move {
  readonly name: string;
  readonly isPossible: (world: World, permits: Permits) => boolean;
  readonly next: (world: World) => World;
}

const moves: readonly Move[] = [
  {
    name: 'the guardian is spawned and holds the workload',
    isPossible: (world, { spawn }) => spawn && world.guardian === 'none' && !world.rebooted,
    next: (world) => ({ ...world, guardian: 'alive', root: 'gated' }),
  },
  {
    name: 'the gate opens and the image runs',
    isPossible: (world, { openGate }) => openGate && world.root === 'gated' && world.guardian === 'alive',
    next: (world) => ({ ...world, root: 'alive', ran: true }),
  },
  {
    name: 'the guardian closes the gate for good',
    isPossible: (world) => world.root === 'gated' && world.guardian === 'alive',
    next: (world) => ({ ...world, root: 'dead', statusReceipt: true }),
  },
  {
    name: 'somebody escapes',
    isPossible: ({ root, escapee }) => root === 'alive' && !escapee,
    next: (world) => ({ ...world, escapee: true }),
  },
  {
    name: 'the root ends',
    isPossible: ({ root }) => root === 'alive',
    next: (world) => ({ ...world, root: 'dead', statusReceipt: world.guardian === 'alive' }),
  },
  {
    name: 'the escapee ends',
    isPossible: ({ escapee }) => escapee,
    next: (world) => ({ ...world, escapee: false }),
  },
  {
    name: 'the guardian hears that nobody is left, and ends',
    isPossible: (world) => world.guardian === 'alive' && world.root === 'dead' && !world.escapee,
    next: (world) => ({ ...world, guardian: 'dead', exitReceipt: true }),
  },
  {
    // Its link breaks with it, so what it still held behind the gate never runs.
    name: 'the guardian is killed',
    isPossible: ({ guardian }) => guardian === 'alive',
    next: (world) => ({ ...world, guardian: 'dead', root: world.root === 'gated' ? 'dead' : world.root }),
  },
  {
    name: 'the machine restarts',
    isPossible: ({ rebooted }) => !rebooted,
    next: (world) => ({
      ...world,
      rebooted: true,
      escapee: false,
      guardian: world.guardian === 'none' ? 'none' : 'dead',
      root: world.root === 'none' ? 'none' : 'dead',
    }),
  },
];

export const worldMoves = (world: World, permits: Permits): ReadonlyArray<readonly [string, World]> =>
  moves.filter(({ isPossible }) => isPossible(world, permits)).map(({ name, next }) => [name, next(world)]);
