/** A fence, two incarnations of a worker and the scopes that they live in: launches, ticks, recoveries and impostors. */
import { launchOf } from '../evidence.ts';
import { isOver, one } from '../facts.ts';
import { orderInvariants, proofInvariants } from '../invariants/scope.ts';
import { treeInvariants } from '../invariants/truth.ts';
import { exitsOnce, workerInvariants } from '../invariants/worker.ts';
import type { Configuration, Invariant, Word } from '../model.ts';
import { type Forest, forestOf, reboot, treeMoves } from '../tree.ts';
import { views } from '../views.ts';
import { launchWords } from '../words/launching.ts';
import { bootWords, receiptWords } from '../words/proving.ts';
import { drainWords, guardianWords } from '../words/watching.ts';
import { fenceWords, isWorkerAlive, workerWords } from '../words/workers.ts';

const scopeWords = (number: number): readonly Word<Forest>[] =>
  [
    ...launchWords<Forest>({ launch: launchOf(`S${number}`, number) }),
    ...receiptWords<Forest>(launchOf(`S${number}`, number)),
    ...bootWords<Forest>(`S${number}`),
    ...guardianWords<Forest>(`S${number}`),
    ...drainWords<Forest>(`S${number}`),
  ].filter(({ name }) =>
    /prepared|attached|bound and released|abandoned|exit receipt(, never released)?$|another boot|absent/.test(name),
  );

export const workerReplacement: Configuration<Forest> = {
  name: 'worker-replacement',
  title: 'a worker, its fence, and the one that takes its place',
  bounds: [
    'two incarnations, two ticks of each, two targets of the first; nobody leaves the session of a worker',
    'the fence is driven in every order, also by somebody who does not look first',
    'a worker launches nothing; what it launched is looked at as the fence configuration has it',
  ],
  cast: [
    { id: 'X1', kind: 'recoveryFence', input: { runtimeId: 'X1' } },
    { id: 'K1', kind: 'workerIncarnation' },
    { id: 'K2', kind: 'workerIncarnation' },
    { id: 'S1', kind: 'executionScope' },
    { id: 'S2', kind: 'executionScope' },
  ],
  truth: forestOf('S1', 'S2'),
  moves: [
    ...treeMoves<Forest>({ scopeId: 'S1', canEscape: false }),
    ...treeMoves<Forest>({ scopeId: 'S2', canEscape: false }),
    reboot<Forest>(),
  ],
  words: [
    ...fenceWords<Forest>([1, 2]),
    ...workerWords<Forest>(1),
    ...workerWords<Forest>(2),
    ...scopeWords(1),
    ...scopeWords(2),
  ],
  invariants: [
    ...(proofInvariants as readonly Invariant<Forest>[]),
    ...(orderInvariants as readonly Invariant<Forest>[]),
    ...(workerInvariants as readonly Invariant<Forest>[]),
    exitsOnce as Invariant<Forest>,
    ...treeInvariants<Forest>({ scopeId: 'S1' }),
    ...treeInvariants<Forest>({ scopeId: 'S2' }),
    {
      id: 'I-24',
      title: 'no two incarnations of a worker live at once',
      belied: (truth) => isWorkerAlive(truth, 1) && isWorkerAlive(truth, 2),
    },
  ],
  prospects: [
    {
      id: 'L-11',
      title: 'as long as no worker was launched, the first one can be',
      from: ({ actors }) => actors.K1 === null && actors.K2 === null,
      to: ({ actors }) => actors.K1 !== null || actors.K2 !== null,
      without: [],
    },
    {
      id: 'L-04',
      title: 'a refused recovery whose scopes are all proved can still launch a replacement',
      from: (records) => {
        const fence = one(records, 'recoveryFence', 'X1');
        const first = one(records, 'executionScope', 'S1');
        return fence?.value === 'refused' && records.actors.S2 === null && first !== null && isOver(first);
      },
      to: (records) => records.actors.K2 !== null,
      without: [],
    },
  ],
  views,
};
