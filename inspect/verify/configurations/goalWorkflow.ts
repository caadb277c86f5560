/** A Goal from its writing to its review, and one with its scope: workers, outdated workers, two people, git and another node. */
import type { GoalContext } from '../../../machines/goalContext.ts';
import { launchOf, scopeRequested } from '../evidence.ts';
import { one, regionOf } from '../facts.ts';
import { cancelInvariants, goalInvariants, integrationInvariants } from '../invariants/goal.ts';
import { orderInvariants, proofInvariants } from '../invariants/scope.ts';
import type { Configuration, Invariant, Records } from '../model.ts';
import { type Forest, forestOf, treeMoves } from '../tree.ts';
import { views } from '../views.ts';
import { created, goalWords } from '../words/goal.ts';
import { type Git, integrationWords } from '../words/integration.ts';
import { launchWords } from '../words/launching.ts';
import { drainWords, publicationWords } from '../words/watching.ts';

/** Decisions name the revision that they were made on, so how many there were tells nothing apart. */
const goalView = (goal: GoalContext) => [
  [goal.nodeId, goal.status, goal.round, goal.occurrence, goal.claim?.claimId ?? '', goal.candidate],
  [
    goal.rounds.length,
    goal.receipts.map(({ occurrence, verdict, reuseOf = '' }) => [occurrence, verdict, reuseOf]),
    goal.integration,
  ],
  [goal.openEffects.length, goal.failure !== null],
];

const isFar = (most: number) => (records: Records) => {
  const goal = one(records, 'goal', 'G1');
  return goal !== null && (goal.context.occurrence.n > most || goal.context.rounds.length > 2);
};

const isIn = (state: string) => (records: Records) => {
  const goal = one(records, 'goal', 'G1');
  return goal !== null && regionOf(goal, 'integration') === state;
};

const integrating =
  /^(claim recorded|step advanced|verdict (accepted|failed)|step failed|preparation|governance selected|todo selected|Round authored|assigned to the other|accepted in review|conflict resolved|cancelled|another node (says (governance|todo)$|assigns|confirms|cancels)|the nodes|assigned to its own)/;

export const goalIntegration: Configuration<Git> = {
  name: 'goal-integration',
  title: 'a candidate on its way into its target, and everything that can come between',
  prologue: ['governance selected', 'claim recorded', 'verdict accepted'],
  bounds: [
    'one Goal, at most four occurrences and two Rounds; the way through the steps is that of goal-workflow',
    'receipts that were late are not adopted; one side effect',
  ],
  cast: [{ id: 'G1', kind: 'goal', input: created }],
  truth: { merged: false, pushed: false },
  moves: [
    {
      name: 'git merges',
      by: 'git',
      needs: isIn('begun'),
      when: ({ merged }) => !merged,
      next: (git) => ({ ...git, merged: true }),
    },
    {
      name: 'the remote takes the push',
      by: 'git',
      needs: isIn('publishing'),
      when: ({ merged, pushed }) => merged && !pushed,
      next: (git) => ({ ...git, pushed: true }),
    },
  ],
  words: [...goalWords<Git>().filter(({ name }) => integrating.test(name)), ...integrationWords<Git>()],
  invariants: [
    ...(goalInvariants as readonly Invariant<Git>[]),
    ...(integrationInvariants as readonly Invariant<Git>[]),
    {
      id: 'I-13',
      title: 'an integration is called complete only where the remote has it',
      claims: (records) => one(records, 'goal', 'G1')?.context.integration?.complete === true,
      belied: ({ pushed }) => !pushed,
    },
  ],
  prospects: [
    {
      id: 'L-08',
      title: 'an integration that has begun, or is being published, can be resolved by looking at git',
      from: (records) => isIn('begun')(records) || isIn('publishing')(records),
      to: (records) => ['idle', 'localOnly', 'complete'].some((state) => isIn(state)(records)),
      without: [],
    },
  ],
  views: { goal: goalView },
  isBeyond: isFar(4),
};

/** Nobody has said yet what is wanted. */
const { round: _, ...unwritten } = created;

export const goalWorkflow: Configuration<object> = {
  name: 'goal-workflow',
  title: 'a Goal through its steps: workers that are informed or not, two people, and another node',
  bounds: [
    'one Goal, at most five occurrences and two Rounds; whoever is stale is wrong in one field',
    'receipts that were late are not adopted; one side effect; no integration (goal-integration has it)',
  ],
  cast: [{ id: 'G1', kind: 'goal', input: unwritten }],
  truth: {},
  moves: [],
  words: goalWords<object>(),
  invariants: goalInvariants as readonly Invariant<object>[],
  views: { goal: goalView },
  isBeyond: isFar(5),
};

const launch = launchOf('S1', 1);

export const goalAndScope: Configuration<Forest> = {
  name: 'goal-and-scope',
  title: 'a Goal and what was launched for it here, when it is cancelled or superseded',
  bounds: ['one scope of one Goal, at most four occurrences; no integration (goal-integration has it)'],
  cast: [
    { id: 'G1', kind: 'goal', input: created },
    { id: 'S1', kind: 'executionScope', input: scopeRequested('S1', { goalId: 'G1', occurrence: 2 }) },
  ],
  truth: forestOf('S1'),
  moves: treeMoves<Forest>({ scopeId: 'S1', canEscape: false }),
  words: [
    ...goalWords<Forest>().filter(({ name }) =>
      /^(cancelled|queued|claim recorded|step failed|another node cancels)$/.test(name),
    ),
    ...launchWords<Forest>({ launch }),
    ...drainWords<Forest>('S1'),
    ...publicationWords<Forest>('S1'),
  ],
  invariants: [
    ...(goalInvariants as readonly Invariant<Forest>[]),
    ...(cancelInvariants as readonly Invariant<Forest>[]),
    ...(proofInvariants as readonly Invariant<Forest>[]),
    ...(orderInvariants as readonly Invariant<Forest>[]),
  ],
  views: { ...views, goal: goalView },
  isBeyond: isFar(4),
};
