/** Invariants about the world: what records claim of a tree, held against the processes as they are. */
import { isCancelled, isEnded, isNeverLaunched, isProved, one } from '../facts.ts';
import type { Invariant } from '../model.ts';
import { type Forest, isTreeAlive, treeOf } from '../tree.ts';

export interface TreeClaims {
  readonly scopeId: string;
  readonly runId?: string;
  /** Scopes whose trees are part of this one. */
  readonly around?: readonly string[];
}

export function treeInvariants<T extends Forest>({ scopeId, runId, around = [] }: TreeClaims): readonly Invariant<T>[] {
  const scopeOf = (records: Parameters<typeof one>[0]) => one(records, 'executionScope', scopeId);
  const isAnybodyAlive = (truth: T): boolean => [scopeId, ...around].some((id) => isTreeAlive(treeOf(truth, id)));
  const ofRun: Invariant<T>[] =
    runId === undefined
      ? []
      : [
          {
            id: 'I-02',
            title: `the process of ${runId} does not exist once the run has ended`,
            claims: (records) => {
              const run = one(records, 'run', runId);
              return run !== null && isEnded(run);
            },
            belied: (truth) => ['gated', 'alive'].includes(treeOf(truth, scopeId).root),
          },
          {
            id: 'I-04',
            title: `the image of ${runId} never ran where the run was cancelled`,
            claims: (records) => {
              const run = one(records, 'run', runId);
              return run !== null && isCancelled(run);
            },
            belied: (truth) => treeOf(truth, scopeId).ran,
          },
          {
            id: 'I-38',
            title: `no image of ${runId} runs before its identity is committed`,
            claims: (records) => one(records, 'run', runId)?.context.identity === null,
            belied: (truth) => treeOf(truth, scopeId).ran,
          },
        ];
  return [
    ...ofRun,
    {
      id: 'I-04',
      title: `the image of ${scopeId} never ran where it was never launched`,
      claims: (records) => {
        const scope = scopeOf(records);
        return scope !== null && isNeverLaunched(scope);
      },
      belied: (truth) => treeOf(truth, scopeId).ran,
    },
    {
      id: 'I-15',
      title: `nobody of the tree of ${scopeId} lives once it is proved`,
      claims: (records) => {
        const scope = scopeOf(records);
        return scope !== null && isProved(scope);
      },
      belied: isAnybodyAlive,
    },
    {
      id: 'I-36',
      title: `no guardian of ${scopeId} was spawned, and no gate opened, without its committed effect`,
      claims: (records) => !records.outbox.has(`openGate ${scopeId}`),
      belied: (truth) => treeOf(truth, scopeId).ran,
    },
  ];
}
