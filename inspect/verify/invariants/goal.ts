/** The invariants of section D that speak of Goals. */
import type { SnapshotOf } from '../../../actors/runtime/actorAccess.ts';
import { canonicalJson } from '../../../machines/canonical.ts';
import { goalEligibility } from '../../../machines/goalEligibility.ts';
import { changedBy, each, every, one, regionOf, taken, terminationOf } from '../facts.ts';
import type { Invariant, Step } from '../model.ts';
import { isConverged, serves } from '../words/goal.ts';

type Goal = SnapshotOf['goal'];
const kind = 'goal';
const statusOf = ({ context }: Goal): string => context.status;
const workflowOf = (goal: Goal): string => regionOf(goal, 'workflow');
const goalStep = (step: Step, keeps: (before: Goal, after: Goal) => boolean): boolean => each(step, kind, keeps);
const said = (step: Step, ...types: readonly string[]): boolean => types.some((type) => taken(step, type).length > 0);
const decisions = [
  'decision.stepSelected',
  'round.authored',
  'goal.cancelled',
  'sync.workflowApplied',
  'sync.cancelApplied',
];
const people = [...decisions, 'goal.queued', 'review.accepted', 'review.declined', 'sync.conflictResolved'];

export const goalInvariants: readonly Invariant<never>[] = [
  {
    id: 'I-05',
    title:
      'occurrence and boundary never decrease, the boundary is not ahead, and each step entry has a new occurrence',
    holds: (records) => every(records, kind, ({ context }) => context.occurrence.boundary <= context.occurrence.n),
    keeps: (step) =>
      goalStep(step, (before, after) => {
        const [was, is] = [before.context.occurrence, after.context.occurrence];
        const isEntered = statusOf(before) !== statusOf(after) && !['failed'].includes(statusOf(after));
        return is.n >= was.n && is.boundary >= was.boundary && (!isEntered || is.n > was.n);
      }),
  },
  {
    id: 'I-07',
    title:
      'only a decision, a Round, cancel or an import leads out of failed, and nothing advances with a failed verdict',
    keeps: (step) =>
      goalStep(
        step,
        (before, after) =>
          statusOf(before) !== 'failed' ||
          statusOf(after) === 'failed' ||
          said(step, ...decisions, 'sync.conflictResolved'),
      ) && changedBy(step, 'step.advanced').every(() => !isFailedBefore(step)),
    holds: (records) =>
      every(records, kind, (goal) => !goalEligibility(goal, 'N1').eligible || !hasFailedVerdict(goal)),
  },
  {
    id: 'I-08',
    title: 'a worker whose belief is out of date moves neither status nor occurrence',
    keeps: (step) =>
      step.deliveries.every(({ event, outcome }) => {
        const basis = event.basis as Record<string, unknown> | undefined;
        const before = one(step.before, kind, 'G1');
        if (basis === undefined || before === null || outcome === 'refused') return true;
        const { goalId, occurrence, status, nodeId, round } = before.context;
        const isCurrent =
          basis.goalId === goalId &&
          basis.occurrence === occurrence.n &&
          basis.step === status &&
          basis.nodeId === nodeId &&
          basis.round === round;
        return isCurrent || goalStep(step, isUnmoved);
      }),
  },
  {
    id: 'I-09',
    title: 'while two nodes contradict each other no automation moves the workflow',
    keeps: (step) =>
      said(step, ...people) ||
      goalStep(step, (before, after) => isConverged(before) || workflowOf(before) === workflowOf(after)),
  },
  {
    id: 'SEL-01',
    title: 'a step that somebody selects, here or on another node, is the step afterwards',
    keeps: (step) =>
      ['decision.stepSelected', 'sync.workflowApplied'].every((type) =>
        taken(step, type).every(({ to, event }) => one(step.after, kind, to)?.context.status === event.to),
      ),
  },
  {
    id: 'I-10',
    title: 'done and cancelled are for good',
    keeps: (step) =>
      goalStep(
        step,
        (before, after) => !['done', 'cancelled'].includes(statusOf(before)) || statusOf(before) === statusOf(after),
      ),
  },
  {
    id: 'GOAL-08',
    title: 'a verdict is recorded once for an occurrence, about inputs that are known',
    holds: (records) =>
      every(records, kind, ({ context }) => {
        const occurrences = context.receipts.map(({ occurrence }) => occurrence);
        return (
          new Set(occurrences).size === occurrences.length && context.receipts.every(({ reuseOf }) => reuseOf !== 'V99')
        );
      }),
  },
  {
    id: 'RCPT-03',
    title: 'a failed verdict ends automation, an accepted one does not',
    keeps: (step) =>
      taken(step, 'receipt.recorded').every(({ event }) =>
        goalStep(step, (before, after) => {
          if (after.context.receipts.length === before.context.receipts.length)
            return statusOf(before) === statusOf(after);
          return (statusOf(after) === 'failed') === (event.verdict === 'failed');
        }),
      ),
  },
];

const isFailedBefore = ({ before }: Step): boolean => !every(before, kind, (goal) => !hasFailedVerdict(goal));

const isUnmoved = (before: Goal, after: Goal): boolean =>
  statusOf(before) === statusOf(after) &&
  canonicalJson(before.context.occurrence) === canonicalJson(after.context.occurrence);

const hasFailedVerdict = ({ context }: Goal): boolean =>
  context.receipts.some(({ occurrence, verdict }) => occurrence === context.occurrence.n && verdict === 'failed');

const integrationOf = (goal: Goal): string => regionOf(goal, 'integration');

export const integrationInvariants: readonly Invariant<never>[] = [
  {
    id: 'I-11',
    title: 'integration is begun only from a lease of the present occurrence, never after cancel',
    keeps: (step) =>
      goalStep(step, (before, after) => {
        if (integrationOf(before) === 'begun' || integrationOf(after) !== 'begun') return true;
        const { integration, occurrence } = before.context;
        return (
          integrationOf(before) === 'leased' &&
          integration?.occurrence === occurrence.n &&
          statusOf(before) === 'governance'
        );
      }),
    holds: (records) =>
      every(records, kind, (goal) => statusOf(goal) !== 'cancelled' || integrationOf(goal) !== 'leased'),
  },
  {
    id: 'I-12',
    title: 'after cancel no publication starts',
    keeps: (step) =>
      goalStep(
        step,
        (before, after) =>
          integrationOf(before) === 'publishing' ||
          integrationOf(after) !== 'publishing' ||
          statusOf(before) === 'governance',
      ),
  },
  {
    id: 'I-13',
    title: 'review is reached from governance only by an integration that is complete for this candidate',
    keeps: (step) =>
      goalStep(step, (before, after) => {
        if (!said(step, 'step.advanced') || statusOf(after) !== 'review') return true;
        return before.context.integration?.complete === true && serves(before.context);
      }),
  },
  {
    id: 'OCC-07',
    title:
      'a lease ends with whatever makes it pointless: another node, a conflict, a Round, a decision for another step, cancel',
    keeps: (step) => goalStep(step, (before, after) => isLeaseKeptRightly(step, before, after)),
  },
];

function isLeaseKeptRightly(step: Step, before: Goal, after: Goal): boolean {
  if (isPointless(step, before, after)) return integrationOf(after) !== 'leased';
  const isLost = integrationOf(before) === 'leased' && integrationOf(after) === 'idle';
  return !isLost || said(step, 'integration.released') || statusOf(after) === 'cancelled';
}

function isPointless(step: Step, before: Goal, after: Goal): boolean {
  if (integrationOf(before) !== 'leased') return false;
  const isDecided =
    before.context.occurrence.boundary < after.context.occurrence.boundary && statusOf(after) !== 'governance';
  const isElsewhere = before.context.nodeId !== after.context.nodeId || before.context.round !== after.context.round;
  return isDecided || isElsewhere || (isConverged(before) && !isConverged(after)) || said(step, 'sync.workflowApplied');
}

/** Cancelling a Goal asks for the end of whatever was launched for it here (STOP-04). */
export const cancelInvariants: readonly Invariant<never>[] = [
  {
    id: 'STOP-04',
    title: 'a cancelled Goal has asked for the end of its scopes',
    keeps: (step) =>
      changedBy(step, 'goal.cancelled').every(() => {
        const scope = one(step.after, 'executionScope', 'S1');
        return scope === null || scope.context.openSideEffects.length > 0 || terminationOf(scope) !== 'idle';
      }),
  },
  {
    id: 'I-42',
    title: 'nothing of a scope or a run moves a Goal',
    keeps: (step) =>
      step.deliveries.every(({ to, from, outcome }) => to !== 'G1' || from === null || outcome === 'refused'),
  },
];
