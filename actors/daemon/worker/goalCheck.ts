/** The check that a Goal is in the hands of, or was in its present occurrence, from the record of the Goal alone. */
import type { GoalContext } from '../../../machines/goalContext.ts';
import type { GoalCheckView } from '../api/views.ts';
import { checkIdOf } from './checkPlan.ts';

/** The claim that its step was begun with, and what came of it; null where no check began the step. */
export function goalCheck({ claim, receipts, failure, occurrence }: GoalContext): GoalCheckView | null {
  const runId = claim === null ? undefined : checkIdOf(claim.claimId);
  if (claim === null || runId === undefined || claim.occurrence !== occurrence.n) return null;
  const receipt = receipts.findLast(({ claimId }) => claimId === claim.claimId);
  if (receipt !== undefined) return { runId, verdict: receipt.verdict, reason: null };
  return { runId, verdict: null, reason: failure === null ? null : (failure.reasonCode ?? failure.kind) };
}
