/** Whether a node may work on a Goal (GOAL-02): from the semantic record alone, so claims and processes never weigh in. */
import type { GoalSnapshot } from './goal.ts';
import type { GoalStatus } from './goalContext.ts';
import { currentRound, isAuthored } from './goalGuards.ts';

const actionable: ReadonlySet<GoalStatus> = new Set<GoalStatus>(['todo', 'plan', 'implement', 'quality', 'governance']);

/** The one word that people see: where the workflow stands. */
export const goalStatus = ({ context }: Pick<GoalSnapshot, 'context'>): GoalStatus => context.status;

export interface Eligibility {
  readonly eligible: boolean;
  /** `eligible`, or the first reason against it in a fixed order. */
  readonly reason:
    | 'eligible'
    | 'status_not_actionable'
    | 'conflicted'
    | 'assigned_to_other_node'
    | 'no_round'
    | 'empty_round';
}

export function goalEligibility(snapshot: GoalSnapshot, nodeId: string): Eligibility {
  const reason = reasonOf(snapshot, nodeId);
  return { eligible: reason === 'eligible', reason };
}

function reasonOf(snapshot: GoalSnapshot, nodeId: string): Eligibility['reason'] {
  const { context } = snapshot;
  if (!actionable.has(context.status)) return 'status_not_actionable';
  if (snapshot.matches({ convergence: 'conflicted' })) return 'conflicted';
  if (context.nodeId !== nodeId) return 'assigned_to_other_node';
  if (currentRound(context) === undefined) return 'no_round';
  return isAuthored(context) ? 'eligible' : 'empty_round';
}
