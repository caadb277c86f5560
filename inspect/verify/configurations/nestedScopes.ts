/** A guardian in the tree of another: kills of either, receipts of either, and what the outer one's receipt says of the inner tree. */
import { launchOf, scopeRequested } from '../evidence.ts';
import { isGap, isGuardianLost, isOver, one } from '../facts.ts';
import { orderInvariants, proofInvariants } from '../invariants/scope.ts';
import { treeInvariants } from '../invariants/truth.ts';
import type { Configuration, Invariant, Word } from '../model.ts';
import { type Forest, forestOf, isTreeAlive, reboot, treeMoves, treeOf } from '../tree.ts';
import { views } from '../views.ts';
import { launchWords } from '../words/launching.ts';
import { bootWords, enclosingWords, receiptWords } from '../words/proving.ts';
import { guardianWords } from '../words/watching.ts';

const outer = launchOf('S1', 1);
const inner = launchOf('S2', 2);

/** The outer guardian adopts what the inner one leaves; its complete receipt covers both, if it was written after both had gone. */
const isCovered = (truth: Forest): boolean => treeOf(truth, 'S1').exitReceipt && !isTreeAlive(treeOf(truth, 'S2'));

const few = (words: readonly Word<Forest>[], kept: RegExp): readonly Word<Forest>[] =>
  words.filter(({ name }) => kept.test(name));

const wordsOf = (launch: typeof outer): readonly Word<Forest>[] => [
  ...launchWords<Forest>({ launch }).filter(({ name }) => !name.includes('may not have')),
  ...few(receiptWords<Forest>(launch), /receipt(, never released)?$|of another guardian|partial/),
  ...few(bootWords<Forest>(launch.scopeId), /another boot|mixed/),
  ...few(guardianWords<Forest>(launch.scopeId), /alive|absent|unseen/),
];

export const nestedScopes: Configuration<Forest> = {
  name: 'nested-scopes',
  title: 'a scope that was launched from within another, each with its guardian',
  bounds: [
    'two levels; the inner scope is launched by the root of the outer one',
    'nobody leaves the session of the inner root; no drains (run-and-scope has them)',
  ],
  cast: [
    { id: 'S1', kind: 'executionScope', input: scopeRequested('S1') },
    { id: 'S2', kind: 'executionScope', input: scopeRequested('S2', { parentScopeId: 'S1', onRootExit: 'wait' }) },
  ],
  truth: forestOf('S1', 'S2'),
  moves: [
    ...treeMoves<Forest>({ scopeId: 'S1', around: ['S2'], canEscape: false }),
    ...treeMoves<Forest>({ scopeId: 'S2', within: 'S1' }),
    reboot<Forest>(),
  ],
  words: [
    ...wordsOf(outer),
    ...wordsOf(inner),
    ...enclosingWords<Forest>({ scopeId: 'S2', enclosingId: 'S1', isReceiptThere: isCovered }),
  ],
  invariants: [
    ...(proofInvariants as readonly Invariant<Forest>[]),
    ...(orderInvariants as readonly Invariant<Forest>[]),
    ...treeInvariants<Forest>({ scopeId: 'S1', around: ['S2'] }),
    ...treeInvariants<Forest>({ scopeId: 'S2' }),
  ],
  prospects: [
    {
      id: 'L-02',
      title:
        'an inner scope whose guardian was killed is still proved by the receipt of the outer one, without a reboot',
      from: (records, truth) => {
        const scope = one(records, 'executionScope', 'S2');
        const isOuterThere = treeOf(truth, 'S1').guardian === 'alive';
        return scope !== null && isGap(scope) && isGuardianLost(scope) && isOuterThere && !truth.rebooted;
      },
      to: (records) => {
        const scope = one(records, 'executionScope', 'S2');
        return scope !== null && isOver(scope);
      },
      without: ['the machine restarts', 'S1: the guardian is killed', 'S2: another boot', 'S2: exit receipt'],
    },
  ],
  views,
};
