/** Why a Goal does not move: whose decision, whose work, or which scope of it is missing a proof. */

import { everyActor } from '../../../actors/runtime/actorAccess.ts';
import type { GoalSnapshot } from '../../../machines/goal.ts';
import type { GoalContext } from '../../../machines/goalContext.ts';
import { goalEligibility } from '../../../machines/goalEligibility.ts';
import { openScopes, standingInWords } from '../scopes.ts';
import type { About, Subject } from '../subject.ts';
import { inWords, listed, quoted } from '../words.ts';

type Goal = Subject<'goal'>;

export function aboutGoal(goal: Goal): About {
  const { snapshot, id } = goal;
  const { context } = snapshot;
  const { title, status, occurrence, round, revision, nodeId } = context;
  return {
    what: `Goal ${id}, ${quoted(title)}, is in ${status} (occurrence ${occurrence.n}, Round ${round}, revision ${revision}) and assigned to node ${nodeId}.`,
    waitsFor: [...ofOutcomes(snapshot), ...(snapshot.hasTag('terminal') ? [] : ofWork(goal))],
    helps: snapshot.matches({ convergence: 'conflicted' }) ? ['sync.conflictResolved', ...progress] : progress,
    facts: factsOf(context),
  };
}

const progress = [
  'sync.conflictResolved',
  'round.authored',
  'goal.queued',
  'claim.recorded',
  'receipt.recorded',
  'step.advanced',
  'review.accepted',
  'review.declined',
  'integration.leased',
  'integration.begun',
  'integration.localRecorded',
  'integration.notApplied',
  'publication.started',
  'publication.finished',
  'publication.failed',
  'sideEffect.finished',
  'decision.stepSelected',
  'goal.nodeAssigned',
] as const;

/** What has begun still reports its outcome, also of a Goal that is over. */
function ofOutcomes({ context, value }: GoalSnapshot): readonly string[] {
  const waits: string[] = [];
  if (context.openEffects.length > 0) {
    const open = context.openEffects.map(({ effectId, boundary }) => `${effectId} (${inWords(boundary)})`);
    waits.push(`It waits for the outcome of side effects that have begun: ${listed(open)}.`);
  }
  if (value.integration === 'begun')
    waits.push(`It waits for a look at git: the merge of ${attempt(context)} may exist.`);
  if (value.integration === 'publishing')
    waits.push(`It waits for a look at the remote: the push of ${attempt(context)} may have happened.`);
  return waits;
}

const attempt = ({ integration }: GoalContext): string =>
  integration === null ? 'the attempt in hand' : `attempt ${integration.attemptId}`;

function ofWork(goal: Goal): readonly string[] {
  const { snapshot, source } = goal;
  const { context } = snapshot;
  const { reason } = goalEligibility(snapshot, source.nodeId);
  if (reason === 'conflicted' || snapshot.matches({ convergence: 'conflicted' }))
    return [
      `It waits for the decision of a person: two nodes contradict each other about ${listed(context.conflict?.fields ?? []) || 'this Goal'}, and no worker of any node goes on before one of the two is chosen.`,
    ];
  switch (reason) {
    case 'status_not_actionable':
      return [ofPerson(context)];
    case 'assigned_to_other_node':
      return [`It waits for node ${context.nodeId}, which it is assigned to; this is node ${source.nodeId}.`];
    case 'no_round':
    case 'empty_round':
      return ['It waits for a request: there is no Round with one, so there is nothing to work on.'];
    case 'eligible':
      return [...ofPredecessors(goal), ofWorker(goal)];
  }
}

function ofPerson({ status, round, failure }: GoalContext): string {
  if (status === 'review')
    return 'It waits for the decision of a person: to accept the integrated result, or to decline it.';
  if (status === 'failed') {
    const why =
      failure === null
        ? ''
        : ` (${inWords(failure.kind)}${failure.reasonCode ? `: ${inWords(failure.reasonCode)}` : ''})`;
    return `It waits for the decision of an operator: automation has ended${why}, and only a new Round, another step or cancelling leads on.`;
  }
  return round === 0
    ? 'It waits for an operator: nobody has authored a request yet, and without one it cannot be queued.'
    : 'It waits for the decision of an operator: it has a request, and nobody has queued it.';
}

/** Nothing new is begun for a Goal beside somebody who may still be at work on it (GOAL-04). */
function ofPredecessors({ source, id }: Goal): readonly string[] {
  return openScopes(source, 'goalId', id).map((standing) => {
    const { assessment, scopeId } = standing;
    const words = standingInWords(standing);
    const more = `custody explain ${scopeId}`;
    if (assessment.state === 'live')
      return `It waits for the end of ${words.replace(' is live', '')}, which is at work for it (${more}).`;
    if (!standing.holdsUp) return `It does not wait for one that is not proved to be gone: ${words}.`;
    const isGap = assessment.state === 'unverified' && assessment.certainty === 'gap';
    return isGap
      ? `It is blocked: ${words}, and nothing new is launched for this Goal before its end is proved (${more}).`
      : `It waits for a certain look: ${words} (${more}).`;
  });
}

function ofWorker(goal: Goal): string {
  const { source, id, snapshot } = goal;
  const { status, claim, receipts, occurrence } = snapshot.context;
  const verdict = receipts.findLast((receipt) => receipt.occurrence === occurrence.n);
  if (status === 'todo') {
    const place = hasOpenWorktree(goal)
      ? ''
      : `; for a check there has to be an open worktree that this program controls, and there is none (custody worktrees add ${id})`;
    return `It waits for a worker of this node (${source.nodeId}) to begin${place}.`;
  }
  if (claim === null) return `It waits for a worker of this node (${source.nodeId}) to claim it.`;
  if (verdict === undefined)
    return `It waits for the verdict on this step, from the worker with claim ${claim.claimId}; no receipt of occurrence ${occurrence.n} is on record.`;
  return `It waits for the worker with claim ${claim.claimId} to go on: receipt ${verdict.receiptId} says ${verdict.verdict}.`;
}

function hasOpenWorktree({ source, id }: Goal): boolean {
  const link = { name: 'goalId', value: id };
  return [...everyActor(source.host, 'worktreeGeneration', { settled: false, link })].some(
    ({ snapshot }) => snapshot !== 'corrupt' && snapshot.matches({ lifecycle: 'open', authority: 'managed' }),
  );
}

function factsOf({ late, integration, preparation }: GoalContext): readonly string[] {
  const facts: string[] = [];
  if (late.length > 0)
    facts.push(
      `${late.length} report(s) came too late to count, the last a ${late.at(-1)?.type}; a late receipt can be adopted by name.`,
    );
  if (integration?.publicationFailure)
    facts.push(`The last push was refused (${inWords(integration.publicationFailure)}).`);
  if (preparation !== null)
    facts.push(`The work was begun anew on another branch (${inWords(preparation.reasonCode)}).`);
  return facts;
}
