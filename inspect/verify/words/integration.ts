/** What is said of one candidate on its way into its target: leases, attempts, and what git is seen to hold (OCC-06, OCC-07). */
import type { SnapshotOf } from '../../../actors/runtime/actorAccess.ts';
import type { GoalContext } from '../../../machines/goalContext.ts';
import { commitOf } from '../evidence.ts';
import { regionOf } from '../facts.ts';
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

type Payload = (context: GoalContext) => object;
type Accepts = (goal: Goal) => boolean;
const never: Accepts = () => false;

const spoken = (
  name: string,
  type: 'integration.leased' | 'integration.begun' | 'publication.started',
  { payload, accepts }: { readonly payload: Payload; readonly accepts: Accepts },
) => ({ name, by: 'worker', type, basis: basisOf, payload, accepts });

const leased = (name: string, payload: Payload, accepts: Accepts) =>
  spoken(name, 'integration.leased', { payload: (context) => ({ target: 'main', ...payload(context) }), accepts });

const begun = (name: string, payload: Payload, accepts: Accepts) =>
  spoken(name, 'integration.begun', {
    payload: (context) => ({ ...payload(context), expectedTargetTip: commitOf('b') }),
    accepts,
  });

const published = (name: string, payload: Payload, accepts: Accepts) =>
  spoken(name, 'publication.started', {
    payload: (context) => ({ ...payload(context), ref: 'main', remote: 'origin' }),
    accepts,
  });

const candidateOf = ({ candidate }: GoalContext): string => candidate ?? 'none';
const isLeaseCurrent = ({ context }: Goal): boolean => context.integration?.occurrence === context.occurrence.n;

export const integrationWords = <T extends Git>(): readonly Word<T>[] => [
  ...[
    leased('integration leased', (goal) => ({ attemptId: next(goal), candidate: candidateOf(goal) }), leasable),
    leased(
      'the same lease taken again',
      (goal) => ({ ...attempt(goal), candidate: candidateOf(goal) }),
      (goal) => leasable(goal) && goal.context.integration === null,
    ),
    leased('another candidate leased', (goal) => ({ attemptId: next(goal), candidate: 'another' }), never),
    begun(
      'integration begun',
      attempt,
      (goal) => isMine(goal) && integrationOf(goal) === 'leased' && isLeaseCurrent(goal),
    ),
    begun('another attempt begun', () => otherAttempt, never),
    published(
      'publication started',
      attempt,
      (goal) => isMine(goal) && integrationOf(goal) === 'localOnly' && serves(goal.context),
    ),
    published('another attempt published', () => otherAttempt, never),
  ].map((saying) => goalWordOf<T>(saying)),
  ...observations<T>(),
];

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
