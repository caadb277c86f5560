/** Processes as the kernel has them: a guardian, the root that it launched, and somebody who got away from the root's session. */

import { one } from './facts.ts';
import type { Move, Records } from './model.ts';

export interface Tree {
  readonly guardian: 'none' | 'alive' | 'dead';
  /** A zombie has ended and was not waited for; a dead one is gone from the process table. */
  readonly root: 'none' | 'gated' | 'alive' | 'zombie' | 'dead';
  readonly escapee: boolean;
  /** The image has executed its first instruction. */
  readonly ran: boolean;
  readonly statusReceipt: boolean;
  readonly exitReceipt: boolean;
}

export interface Forest {
  readonly rebooted: boolean;
  /** By scope. */
  readonly trees: Readonly<Record<string, Tree>>;
}

export const noTree: Tree = {
  guardian: 'none',
  root: 'none',
  escapee: false,
  ran: false,
  statusReceipt: false,
  exitReceipt: false,
};

export const forestOf = (...scopeIds: readonly string[]): Forest => ({
  rebooted: false,
  trees: Object.fromEntries(scopeIds.map((id) => [id, noTree])),
});

export const treeOf = ({ trees }: Forest, id: string): Tree => trees[id] ?? noTree;
export const isTreeAlive = ({ root, escapee }: Tree): boolean => root === 'gated' || root === 'alive' || escapee;

/** Somebody who can write: behind a shut gate nobody does anything. */
export const isWriterAlive = ({ root, escapee }: Tree): boolean => root === 'alive' || escapee;

export interface TreeOptions {
  readonly scopeId: string;
  /** The scope in whose tree this guardian lives. */
  readonly within?: string;
  /** Scopes whose guardians live in this tree. */
  readonly around?: readonly string[];
  readonly canEscape?: boolean;
}

type Change<T extends Forest> = (tree: Tree, truth: T) => Partial<Tree> | undefined;

/** What a tree does by itself, in any configuration whose truth has a forest. */
export function treeMoves<T extends Forest>(options: TreeOptions): readonly Move<T>[] {
  const { scopeId, within, around = [], canEscape = true } = options;
  const by = `guardian of ${scopeId}`;
  const move = (name: string, change: Change<T>, rest: { by?: string; needs?: Move<T>['needs'] } = {}): Move<T> => ({
    name: `${scopeId}: ${name}`,
    by: rest.by ?? by,
    ...(rest.needs ? { needs: rest.needs } : {}),
    when: (truth) => change(treeOf(truth, scopeId), truth) !== undefined,
    next: (truth) => ({
      ...truth,
      trees: { ...truth.trees, [scopeId]: { ...treeOf(truth, scopeId), ...change(treeOf(truth, scopeId), truth) } },
    }),
  });
  const isQuiet = (truth: T) =>
    around.every((id) => treeOf(truth, id).guardian !== 'alive' && !isTreeAlive(treeOf(truth, id)));
  const hasParent = (truth: T) => within === undefined || treeOf(truth, within).root === 'alive';
  return [
    move(
      'the guardian is spawned and holds the workload behind its gate',
      ({ guardian }, truth) =>
        guardian === 'none' && !truth.rebooted && hasParent(truth) ? { guardian: 'alive', root: 'gated' } : undefined,
      { by: 'daemon', needs: maySpawn(scopeId) },
    ),
    move(
      'the gate opens and the image runs',
      ({ guardian, root }) => (guardian === 'alive' && root === 'gated' ? { root: 'alive', ran: true } : undefined),
      { needs: ({ outbox }) => outbox.has(`openGate ${scopeId}`) },
    ),
    move('the guardian closes its gate for good', ({ guardian, root }) =>
      guardian === 'alive' && root === 'gated' ? { root: 'dead', statusReceipt: true } : undefined,
    ),
    ...(canEscape
      ? [
          move('somebody leaves the session of the root', ({ root, escapee }) =>
            root === 'alive' && !escapee ? { escapee: true } : undefined,
          ),
          move('who had left it ends', ({ escapee }) => (escapee ? { escapee: false } : undefined)),
        ]
      : []),
    move('the root ends', ({ root }) => (root === 'alive' ? { root: 'zombie' } : undefined)),
    move('the guardian reaps the root and writes its status', ({ guardian, root }) =>
      guardian === 'alive' && root === 'zombie' ? { root: 'dead', statusReceipt: true } : undefined,
    ),
    move('the guardian hears that nobody is left, writes its receipt and ends', (tree, truth) =>
      tree.guardian === 'alive' && tree.root === 'dead' && !tree.escapee && isQuiet(truth)
        ? { guardian: 'dead', exitReceipt: true }
        : undefined,
    ),
    // Its link breaks with it, so what it still held behind the gate never runs; somebody else reaps what it leaves.
    move('the guardian is killed', ({ guardian, root }) =>
      guardian === 'alive'
        ? { guardian: 'dead', root: root === 'gated' || root === 'zombie' ? 'dead' : root }
        : undefined,
    ),
  ];
}

/** A launch is executed once its effect is committed and its receipt files are made (C.11). */
const maySpawn =
  (scopeId: string) =>
  (records: Records): boolean => {
    const scope = one(records, 'executionScope', scopeId);
    return records.outbox.has(`launchScope ${scopeId}`) && scope !== null && scope.context.slots !== null;
  };

export const reboot = <T extends Forest>(): Move<T> => ({
  name: 'the machine restarts',
  by: 'kernel',
  when: ({ rebooted }) => !rebooted,
  next: (truth) => ({
    ...truth,
    rebooted: true,
    trees: Object.fromEntries(
      Object.entries(truth.trees).map(([id, tree]) => [
        id,
        {
          ...tree,
          escapee: false,
          guardian: tree.guardian === 'none' ? 'none' : 'dead',
          root: tree.root === 'none' ? 'none' : 'dead',
        },
      ]),
    ),
  }),
});
