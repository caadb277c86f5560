/** A worktree generation with two runs of which one is guarded, contracts, gaps, handoffs and executors' receipts. */
import type { Payload } from '../../../machines/events/catalogue.ts';
import { identityBound, launchOf, runReserved, scopeRequested } from '../evidence.ts';
import { isOver, lifecycleOf, one } from '../facts.ts';
import { generationInvariants } from '../invariants/generation.ts';
import { runInvariants, runScopeInvariants } from '../invariants/run.ts';
import { orderInvariants, proofInvariants } from '../invariants/scope.ts';
import { treeInvariants } from '../invariants/truth.ts';
import { type Configuration, type Invariant, type Records, say, type Word } from '../model.ts';
import { type Forest, forestOf, isWriterAlive, reboot, treeMoves, treeOf } from '../tree.ts';
import { views } from '../views.ts';
import { generationWords, ourGuardian, registered } from '../words/generation.ts';
import { launchWords, word } from '../words/launching.ts';
import { bootWords, receiptWords } from '../words/proving.ts';
import { guardianWords } from '../words/watching.ts';

const launch = launchOf('S1', 1);

/** What admits a managed run: its reservation, its place in the generation, its scope, all in one commit (C.11, rule 2). */
const admission: Word<Forest> = {
  name: 'R1 is admitted with its scope',
  by: 'operator',
  call: ({ actors }) => (actors.R1 === null ? admitted : undefined),
  due: (records) => {
    const generation = one(records, 'worktreeGeneration', 'W1');
    const isOpen =
      generation !== null && generation.value.lifecycle === 'open' && generation.value.authority === 'managed';
    return isOpen ? 'accepted' : 'refused';
  },
};
const admitted = [
  say('R1', 'run.reserved', runReserved('R1', { generationId: 'W1', rootScopeId: 'S1' })),
  say('W1', 'run.admitted', { runId: 'R1' }),
  say('S1', 'scope.requested', scopeRequested('S1', { runId: 'R1', generationId: 'W1' })),
  say('W1', 'scope.opened', { runId: 'R1', scopeId: 'S1', guardianDigest: ourGuardian } as Payload<'scope.opened'>),
];

/** A run that others started there, while this program only watched. */
const observedWords: readonly Word<Forest>[] = [
  word('R2 is bound', say('R2', 'identity.bound', identityBound(launchOf('S9', 9).workload)), { by: 'adapter' }),
  word(
    'R2 is seen ended',
    say('R2', 'process.observed', {
      ...{ result: 'ended', reason: 'ended', stable: true, identity: launchOf('S9', 9).workload, basisVersion: 1 },
      ...{ sampledAt: { monoMs: 1_000, bootId: 'boot-a' }, contextDigest: '' },
    }),
    { by: 'observer' },
  ),
  {
    name: 'R2 is noted and placed',
    by: 'adapter',
    call: (records) => (isPlaced(records) ? undefined : placed),
    due: (records) => {
      const generation = one(records, 'worktreeGeneration', 'W1');
      const place = one(records, 'run', 'R2')?.context.generationId;
      const isPlaceable = place === null || place === 'W1';
      return generation?.value.authority === 'observe' && isPlaceable ? 'accepted' : 'refused';
    },
  },
  word('R2 is placed elsewhere', say('R2', 'run.placed', { generationId: 'W9' } as Payload<'run.placed'>), {
    by: 'adapter',
    due: (records) => (one(records, 'run', 'R2')?.context.generationId === 'W1' ? 'refused' : 'accepted'),
  }),
];

/** The host knows a note that is repeated by the id of its event, which is never forgotten (JRN-05). */
const isPlaced = (records: Records): boolean => one(records, 'run', 'R2')?.context.generationId === 'W1';

/** Noted first: a run that is over already says so there as soon as it is placed. */
const placed = [
  say('W1', 'run.noted', { runId: 'R2', origin: 'observed' } as Payload<'run.noted'>),
  say('R2', 'run.placed', { generationId: 'W1' } as Payload<'run.placed'>),
];

const essential =
  /prepared|attached|bound and released|abandoned|not started|receipt(, never released)?$|another boot|absent|partial|of another guardian/;

export const generationSeal: Configuration<Forest> = {
  name: 'generation-seal',
  title: 'a worktree from its registration to its retirement, with a guarded run and one that others started',
  bounds: [
    'one generation, one managed run with one scope, one observed run; one gap; two authority changes',
    'the observed run is noted once: the host knows a repeated note by its event id (JRN-05)',
    'a run that is over is admitted nowhere: the launch that admits a run makes its id',
    'a child that is held behind a shut gate is no writer: it is killed unrun (GRD-06)',
    'nobody leaves the session of the root; drains and repeated looks are those of run-and-scope',
  ],
  cast: [
    { id: 'W1', kind: 'worktreeGeneration', input: registered },
    { id: 'R1', kind: 'run' },
    { id: 'S1', kind: 'executionScope' },
    {
      id: 'R2',
      kind: 'run',
      input: runReserved('R2', { mode: 'observe', origin: 'observed', gaps: ['place_missing'] }),
    },
  ],
  truth: forestOf('S1'),
  moves: [...treeMoves<Forest>({ scopeId: 'S1', canEscape: false }), reboot<Forest>()],
  words: [
    admission,
    ...observedWords,
    ...generationWords<Forest>(),
    ...[
      ...launchWords<Forest>({ launch, runId: 'R1' }),
      ...receiptWords<Forest>(launch),
      ...bootWords<Forest>('S1'),
      ...guardianWords<Forest>('S1'),
    ].filter(({ name }) => essential.test(name)),
  ],
  invariants: [
    ...(proofInvariants as readonly Invariant<Forest>[]),
    ...(orderInvariants as readonly Invariant<Forest>[]),
    ...(runInvariants as readonly Invariant<Forest>[]),
    ...(runScopeInvariants as readonly Invariant<Forest>[]),
    ...(generationInvariants as readonly Invariant<Forest>[]),
    ...treeInvariants<Forest>({ scopeId: 'S1', runId: 'R1' }),
    {
      id: 'I-22',
      title: 'nobody lives in any tree of a sealed or retired generation',
      claims: (records) => {
        const generation = one(records, 'worktreeGeneration', 'W1');
        return generation !== null && ['sealed', 'retired'].includes(lifecycleOf(generation));
      },
      belied: (truth) => isWriterAlive(treeOf(truth, 'S1')),
    },
  ],
  prospects: [
    {
      id: 'L-05',
      title: 'a closing generation whose scopes are over can still be sealed',
      from: (records) => {
        const generation = one(records, 'worktreeGeneration', 'W1');
        const scope = one(records, 'executionScope', 'S1');
        return (
          generation !== null &&
          lifecycleOf(generation) === 'closing' &&
          generation.value.authority === 'managed' &&
          (scope === null || isOver(scope))
        );
      },
      to: (records) => {
        const generation = one(records, 'worktreeGeneration', 'W1');
        return generation !== null && lifecycleOf(generation) !== 'closing';
      },
      without: [],
    },
  ],
  // Each change of authority counts on; what a second one brings a third would bring again.
  isBeyond: (records) => (one(records, 'worktreeGeneration', 'W1')?.context.authorityEpoch ?? 0) > 3,
  views,
};
