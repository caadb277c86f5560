/** One managed run under one guardian: the launch, every kind of evidence, drains, claims and clocks. */
import { launchOf, runReserved, scopeRequested } from '../evidence.ts';
import { isEnded, isGuardianLost, isOver, one } from '../facts.ts';
import { runInvariants, runScopeInvariants } from '../invariants/run.ts';
import { orderInvariants, proofInvariants } from '../invariants/scope.ts';
import { treeInvariants } from '../invariants/truth.ts';
import type { Configuration, Invariant, Prospect, Word } from '../model.ts';
import { type Forest, forestOf, isTreeAlive, reboot, treeMoves, treeOf } from '../tree.ts';
import { views } from '../views.ts';
import { bindingWords, launchWords } from '../words/launching.ts';
import { bootWords, enclosingWords, processWords, receiptWords } from '../words/proving.ts';
import {
  assumptionWords,
  drainWords,
  guardianWords,
  publicationWords,
  residentWords,
  witnessWords,
} from '../words/watching.ts';

const launch = launchOf('S1', 1);

const words: readonly Word<Forest>[] = [
  ...launchWords<Forest>({ launch, runId: 'R1' }),
  ...bindingWords<Forest>('R1', launch),
  ...receiptWords<Forest>(launch),
  ...bootWords<Forest>('S1'),
  ...enclosingWords<Forest>({
    scopeId: 'S1',
    enclosingId: 'S0',
    isReceiptThere: (truth) => treeOf(truth, 'S1').guardian === 'dead' && !isTreeAlive(treeOf(truth, 'S1')),
  }),
  ...guardianWords<Forest>('S1'),
  ...assumptionWords<Forest>('S1'),
  ...drainWords<Forest>('S1'),
  ...processWords<Forest>('R1', launch),
  ...residentWords<Forest>('S1'),
];

const prospects: readonly Prospect<Forest>[] = [
  {
    id: 'L-06',
    title: 'a scope whose guardian nobody kills can still be settled, without a reboot',
    from: (records, truth) => {
      const scope = one(records, 'executionScope', 'S1');
      const { guardian, exitReceipt } = treeOf(truth, 'S1');
      const isKilled = guardian === 'dead' && !exitReceipt;
      return scope !== null && scope.context.gaps.length === 0 && !isGuardianLost(scope) && !isKilled;
    },
    to: (records) => {
      const scope = one(records, 'executionScope', 'S1');
      const run = one(records, 'run', 'R1');
      return (
        scope !== null && isOver(scope) && run !== null && (isEnded(run) || run.matches({ lifecycle: 'cancelled' }))
      );
    },
    without: ['the machine restarts', 'S1: the guardian is killed', 'S1: another boot', 'S1: enclosing receipt'],
  },
];

const common = {
  bounds: [
    'one scope, one run; at most one process has left the session of the root at a time',
    'one boot follows the first; pids are not reused (a process that is another one is a stranger)',
    'the number of drains and the ids of repeated events are not told apart',
  ],
  truth: forestOf('S1'),
  moves: [...treeMoves<Forest>({ scopeId: 'S1' }), reboot<Forest>()],
  invariants: [
    ...(proofInvariants as readonly Invariant<Forest>[]),
    ...(orderInvariants as readonly Invariant<Forest>[]),
    ...(runInvariants as readonly Invariant<Forest>[]),
    ...(runScopeInvariants as readonly Invariant<Forest>[]),
    ...treeInvariants<Forest>({ scopeId: 'S1', runId: 'R1' }),
  ],
};

const castWith = (scope: object) => [
  { id: 'S1', kind: 'executionScope' as const, input: scopeRequested('S1', { runId: 'R1', ...scope }) },
  { id: 'R1', kind: 'run' as const, input: runReserved('R1', { rootScopeId: 'S1' }) },
];

export const runAndScope: Configuration<Forest> = {
  ...common,
  name: 'run-and-scope',
  title: 'a managed run and its scope, where the end of the root ends the rest',
  cast: castWith({}),
  words,
  prospects,
  views,
};

export const waitingRun: Configuration<Forest> = {
  ...common,
  name: 'run-with-residents',
  title: 'a managed run whose tree may outlive its root, with residents, witnesses and publications',
  bounds: [...common.bounds, 'one publication and one further witness'],
  cast: castWith({ onRootExit: 'wait', residents: [{ name: 'watchman', stop: 'keep' }] }),
  words: [
    ...words.filter(({ name }) => !/enclosing|uncertain/.test(name)),
    ...publicationWords<Forest>('S1'),
    ...witnessWords<Forest>('S1'),
  ],
  views,
};
