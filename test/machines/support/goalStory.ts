/** Tells a Goal what happens to it, event by event, and takes it wherever a test wants it to be. */
import fc from 'fast-check';
import { type GoalSnapshot, goalMachine } from '../../../machines/goal.ts';
import type { GoalStatus } from '../../../machines/goalContext.ts';
import { whyRejected } from '../../../machines/rejection.ts';
import { type StepResult, start, step } from '../../../machines/step.ts';
import { candidate, type FittingType, goalEvent, goalInput } from './goalEvidence.ts';
import { goalSamples } from './goalSamples.ts';
import type { Sample } from './table.ts';

export const newGoal = (rest: Parameters<typeof goalInput>[0] = {}): GoalSnapshot =>
  start(goalMachine, goalInput(rest)).snapshot as GoalSnapshot;

export interface Told extends Pick<StepResult, 'change' | 'effects'> {
  readonly snapshot: GoalSnapshot;
  /** Guards that refused, if it was refused. */
  readonly guards: readonly string[];
}

/** Offers an event that fits the record, but for `rest`. */
export function offer(before: GoalSnapshot, type: FittingType, rest: object = {}): Told {
  const event = goalEvent(type, before.context, rest);
  const { snapshot, change, effects } = step(goalMachine, before, event);
  const guards = change === 'unmatched' ? whyRejected(goalMachine, before, event).guards : [];
  return { snapshot: snapshot as GoalSnapshot, change, effects, guards };
}

/** Like `offer`, for events that have to be accepted for the test to make sense. */
export function tell(before: GoalSnapshot, type: FittingType, rest: object = {}): GoalSnapshot {
  const { snapshot, change, guards } = offer(before, type, rest);
  if (change === 'unmatched') throw new Error(`${type} was refused at ${before.context.status}: ${guards.join(', ')}`);
  return snapshot;
}

const hasVerdict = ({ context }: GoalSnapshot): boolean =>
  context.receipts.some(({ occurrence }) => occurrence === context.occurrence.n);

const integrating: Readonly<Record<GoalSnapshot['value']['integration'], FittingType>> = {
  idle: 'integration.leased',
  leased: 'integration.begun',
  begun: 'integration.localRecorded',
  localOnly: 'publication.started',
  publishing: 'publication.finished',
  complete: 'step.advanced',
};

/** The event that brings this Goal nearer to its end, as far as one does. */
export function nextOf(snapshot: GoalSnapshot): readonly [FittingType, object?] {
  const { context, value } = snapshot;
  if (value.convergence === 'conflicted') return ['sync.conflictResolved'];
  switch (context.status) {
    case 'backlog':
      return ['goal.queued'];
    case 'failed':
      return ['decision.stepSelected', { to: 'quality' }];
    case 'review':
      return ['review.accepted'];
    case 'done':
    case 'cancelled':
      return ['sideEffect.finished'];
  }
  if (context.claim === null) return ['claim.recorded'];
  if (context.status === 'todo') return ['step.advanced'];
  if (context.status === 'governance' && context.candidate !== null && value.integration !== 'complete')
    return [integrating[value.integration]];
  const isChecked = context.status === 'quality' || context.status === 'governance';
  return hasVerdict(snapshot) ? ['step.advanced'] : ['receipt.recorded', isChecked ? { candidate } : {}];
}

export const progress = (before: GoalSnapshot): Told => offer(before, ...nextOf(before));

export function until(from: GoalSnapshot, isThere: (snapshot: GoalSnapshot) => boolean): GoalSnapshot {
  let snapshot = from;
  for (let tries = 0; !isThere(snapshot); tries += 1) {
    if (tries > 60) throw new Error(`the story does not get there from ${snapshot.context.status}`);
    snapshot = progress(snapshot).snapshot;
  }
  return snapshot;
}

export function goalAt(status: GoalStatus): GoalSnapshot {
  if (status === 'cancelled') return tell(newGoal(), 'goal.cancelled');
  if (status === 'failed') return tell(claimed('plan'), 'step.failed');
  return until(newGoal(), ({ context }) => context.status === status);
}

/** At the step, with a claim and without a verdict. */
export const claimed = (status: GoalStatus): GoalSnapshot =>
  until(goalAt(status), ({ context }) => context.claim !== null);

export const integrationAt = (state: GoalSnapshot['value']['integration']): GoalSnapshot =>
  until(newGoal(), ({ value, context }) => value.integration === state && context.status === 'governance');

/** One transition that was offered, with the sample that it came from where it was no progress. */
export interface Offered extends Told {
  readonly before: GoalSnapshot;
  readonly sample: Sample;
}

export type Plot = readonly ('progress' | number)[];

/** Stories that mostly move on and now and then meet any event, fitting or not. */
export const plots: fc.Arbitrary<Plot> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.constant('progress' as const) },
    { weight: 1, arbitrary: fc.nat(goalSamples.length - 1) },
  ),
  { minLength: 5, maxLength: 60, size: 'max' },
);

export function play(plot: Plot, onto: (offered: Offered) => void): GoalSnapshot {
  let before = newGoal();
  for (const move of plot) {
    const [type, rest] = move === 'progress' ? nextOf(before) : [undefined, {}];
    const sample = type === undefined ? (goalSamples[move as number] as Sample) : bare(type, rest);
    const told =
      type === undefined
        ? offer(before, sample.type as FittingType, { basis: undefined, ...sample.payload(before.context as never) })
        : offer(before, type, rest);
    onto({ ...told, before, sample });
    before = told.snapshot;
  }
  return before;
}

const bare = (type: FittingType, rest: object = {}): Sample => ({ type, facts: [], payload: () => rest });
