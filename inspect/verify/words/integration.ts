/** What is said of one candidate on its way into its target: leases, attempts, and what git is seen to hold (OCC-06, OCC-07). */
import type { GoalContext } from '../../../machines/goalContext.ts';
import { commitOf } from '../evidence.ts';
import { regionOf, type SnapshotOf } from '../facts.ts';
import type { Word } from '../model.ts';
import { basisOf, goalWordOf, isConverged, serves } from './goal.ts';

type Goal = SnapshotOf['goal'];

export interface Git {
  /** What was really done of the attempt in hand. */
  readonly merged: boolean;
  readonly pushed: boolean;
}

const integrationOf = (goal: Goal): string => regionOf(goal, 'integration');
const attempt = ({ integration }: GoalContext) => ({ attemptId: integration?.attemptId ?? 'A0' });
const otherAttempt = { attemptId: 'A99' };

const leasable = (goal: Goal): boolean =>
  isConverged(goal) &&
  goal.context.claim !== null &&
  goal.context.status === 'governance' &&
  goal.context.candidate !== null &&
  ['idle', 'leased', 'localOnly', 'complete'].includes(integrationOf(goal));

const isMine = (goal: Goal): boolean =>
  isConverged(goal) && goal.context.claim !== null && goal.context.status === 'governance';

const next = ({ occurrence, integration }: GoalContext): string =>
  integration?.attemptId === `A${occurrence.n}` ? `A${occurrence.n}+` : `A${occurrence.n}`;

export function integrationWords<T extends Git>(): readonly Word<T>[] {
  const by = 'worker';
  const begun = (payload: (context: GoalContext) => object, accepts: (goal: Goal) => boolean) =>
    ({
      by,
      type: 'integration.begun',
      basis: basisOf,
      payload: (context: GoalContext) => ({ ...payload(context), expectedTargetTip: commitOf('b') }),
      accepts,
    }) as const;
  const published = (payload: (context: GoalContext) => object, accepts: (goal: Goal) => boolean) =>
    ({
      by,
      type: 'publication.started',
      basis: basisOf,
      payload: (context: GoalContext) => ({ ...payload(context), ref: 'main', remote: 'origin' }),
      accepts,
    }) as const;
  const leased = (payload: (context: GoalContext) => object, accepts: (goal: Goal) => boolean) =>
    ({
      by,
      type: 'integration.leased',
      basis: basisOf,
      payload: (context: GoalContext) => ({ target: 'main', ...payload(context) }),
      accepts,
    }) as const;
  return [
    goalWordOf({
      name: 'integration leased',
      ...leased((context) => ({ attemptId: next(context), candidate: context.candidate ?? 'none' }), leasable),
    }),
    goalWordOf({
      name: 'the same lease taken again',
      ...leased(
        (context) => ({ ...attempt(context), candidate: context.candidate ?? 'none' }),
        (goal) => leasable(goal) && goal.context.integration === null,
      ),
    }),
    goalWordOf({
      name: 'another candidate leased',
      ...leased(
        (context) => ({ attemptId: next(context), candidate: 'another' }),
        () => false,
      ),
    }),
    goalWordOf({
      name: 'integration begun',
      ...begun(
        attempt,
        (goal) =>
          isMine(goal) &&
          integrationOf(goal) === 'leased' &&
          goal.context.integration?.occurrence === goal.context.occurrence.n,
      ),
    }),
    goalWordOf({
      name: 'another attempt begun',
      ...begun(
        () => otherAttempt,
        () => false,
      ),
    }),
    goalWordOf({
      name: 'publication started',
      ...published(attempt, (goal) => isMine(goal) && integrationOf(goal) === 'localOnly' && serves(goal.context)),
    }),
    goalWordOf({
      name: 'another attempt published',
      ...published(
        () => otherAttempt,
        () => false,
      ),
    }),
    ...observations<T>(),
  ];
}

/** What git says is said by whoever looks, when it is so, and perhaps much later. */
function observations<T extends Git>(): readonly Word<T>[] {
  const told = (
    name: string,
    type: Parameters<typeof goalWordOf>[0]['type'],
    { payload, state, when }: { payload: object; state: string; when?: (git: Git) => boolean },
  ): Word<T>[] => {
    const accepts = (goal: Goal): boolean => integrationOf(goal) === state;
    const rest = when === undefined ? {} : { when };
    return [
      {
        ...goalWordOf<T>({
          name,
          by: 'git',
          type,
          payload: (context) => ({ ...attempt(context), ...payload }),
          accepts,
        }),
        ...rest,
      },
      goalWordOf<T>({
        name: `${name}, of another attempt`,
        by: 'git',
        type,
        payload: () => ({ ...otherAttempt, ...payload }),
        accepts: () => false,
      }),
    ];
  };
  return [
    ...told('lease released', 'integration.released', { payload: { reason: 'given_up' }, state: 'leased' }),
    ...told('the merge is there', 'integration.localRecorded', {
      payload: { targetCommit: commitOf('c'), pushed: false },
      state: 'begun',
      when: ({ merged }) => merged,
    }),
    ...told('there is no merge', 'integration.notApplied', {
      payload: { observedTip: commitOf('b') },
      state: 'begun',
      when: ({ merged }) => !merged,
    }),
    ...told('the remote has it', 'publication.finished', {
      payload: { remoteCommit: commitOf('c') },
      state: 'publishing',
      when: ({ pushed }) => pushed,
    }),
    ...told('the push failed', 'publication.failed', {
      payload: { reasonCode: 'refused' },
      state: 'publishing',
      when: ({ pushed }) => !pushed,
    }),
  ];
}
