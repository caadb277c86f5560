/** Why a Goal does not move: whose decision, whose work, or which scope of it is missing a proof. */

import type { GoalCheckView } from '../../../actors/daemon/api/views.ts';
import { goalCheck } from '../../../actors/daemon/worker/goalCheck.ts';
import { everyActor } from '../../../actors/runtime/actorAccess.ts';
import type { GoalSnapshot } from '../../../machines/goal.ts';
import type { GoalContext } from '../../../machines/goalContext.ts';
import { goalEligibility } from '../../../machines/goalEligibility.ts';
import { runInWords } from '../endings.ts';
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
    helps: helpsOf(goal),
    notes: ['claim.recorded', 'receipt.recorded'],
    wants: status === 'backlog' ? ['goal.queued'] : [],
    facts: factsOf(context),
  };
}

/** What this version brings on: it queues, and its worker runs one check in the first step (README, Checks). */
function helpsOf({ source, snapshot }: Goal): About['helps'] {
  const { context } = snapshot;
  if (snapshot.matches({ convergence: 'conflicted' })) return [];
  if (context.status === 'backlog') return ['goal.queued'];
  if (context.status === 'todo') return source.hasCheck(context.repoId) === false ? [] : ['claim.recorded'];
  const isChecked = context.status === 'plan' && goalCheck(context)?.verdict === null;
  return isChecked ? ['receipt.recorded'] : [];
}

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
      `It waits for the decision of a person: two nodes contradict each other about ${listed(context.conflict?.fields ?? []) || 'this Goal'}, and no worker of any node goes on before one of the two is chosen. ${noCommand(goal, 'chooses')}`,
    ];
  switch (reason) {
    case 'status_not_actionable':
      return [ofPerson(goal)];
    case 'assigned_to_other_node':
      return [`It waits for node ${context.nodeId}, which it is assigned to; this is node ${source.nodeId}.`];
    case 'no_round':
    case 'empty_round':
      return [`It has no request, so there is nothing to work on. ${noCommand(goal, 'adds one later')}`];
    case 'eligible':
      return [...ofPredecessors(goal), ofWorker(goal)];
  }
}

/** What is left where the charts know a way on and no command of this version takes it. */
const noCommand = ({ id }: Goal, does: string): string =>
  `No command of this version ${does}: ask for the work in a new Goal (custody goals add), and give this one up (custody goals cancel ${id}).`;

function ofPerson(goal: Goal): string {
  const { status, round, failure } = goal.snapshot.context;
  if (status === 'review')
    return `It waits for the decision of a person: to accept the integrated result, or to decline it. ${noCommand(goal, 'does either')}`;
  if (status === 'failed')
    return `${ofFailure(goal, failure)} It stays failed. ${noCommand(goal, 'leads on from there')}`;
  return round === 0
    ? `It cannot go on: nobody has authored a request yet, and without one it cannot be queued. ${noCommand(goal, 'adds one later')}`
    : `It waits for the decision of an operator: it has a request, and nobody has queued it (custody goals queue ${goal.id}).`;
}

function ofFailure({ source, snapshot }: Goal, failure: GoalContext['failure']): string {
  const check = goalCheck(snapshot.context);
  const why =
    failure === null ? '' : `${inWords(failure.kind)}${failure.reasonCode ? `: ${inWords(failure.reasonCode)}` : ''}`;
  if (check?.verdict === 'failed') return `Its check has failed: ${runInWords(source, check.runId)}.`;
  if (check !== null) return `Its check came to no verdict${why && ` (${why})`}: ${runInWords(source, check.runId)}.`;
  return `Automation has ended${why && ` (${why})`}.`;
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
  const { source, snapshot } = goal;
  const { status, claim, receipts, occurrence, repoId } = snapshot.context;
  if (status === 'todo') return source.hasCheck(repoId) === false ? uncheckedWords(goal) : queuedWords(goal);
  const check = goalCheck(snapshot.context);
  if (check !== null) return ofCheck(goal, check);
  const only = 'and no worker of this version does more than to check queued Goals';
  if (claim === null) return `It waits for a worker of this node (${source.nodeId}) to claim it, ${only}.`;
  const verdict = receipts.findLast((receipt) => receipt.occurrence === occurrence.n);
  if (verdict === undefined)
    return `It waits for the verdict on this step, from the worker with claim ${claim.claimId}; no receipt of occurrence ${occurrence.n} is on record, ${only}.`;
  return `Receipt ${verdict.receiptId} says ${verdict.verdict}, ${only}.`;
}

function queuedWords(goal: Goal): string {
  const { source, id } = goal;
  const place = hasOpenWorktree(goal)
    ? ''
    : `; for a check there has to be an open worktree that this program controls, and there is none (custody worktrees add ${id})`;
  const unknown =
    source.hasCheck(goal.snapshot.context.repoId) === undefined ? ', if one is configured (custody config)' : '';
  return `It waits for a worker of this node (${source.nodeId}) to begin with its check${unknown}${place}.`;
}

/** Beside checks nothing is begun for a Goal but what a person begins. */
const uncheckedWords = ({ id }: Goal): string =>
  `No check is configured for its repository, so no worker begins with it by itself: put one into "checks" of the configuration (custody config says where that lies), then custody daemon restart --keep-work. Work on it is begun by hand (custody worktrees add ${id}, custody runs exec ${id} -- COMMAND).`;

function ofCheck({ source, id, snapshot }: Goal, { runId, verdict }: GoalCheckView): string {
  const run = runInWords(source, runId);
  if (verdict !== null)
    return `Its check has passed: ${run}. This version does nothing more with it and has no command that accepts or advances it: it stays in ${snapshot.context.status} until it is given up (custody goals cancel ${id}).`;
  return `It waits for the verdict of its check, ${run} (custody explain ${runId}); one that is cut off is run again when nobody of it is left.`;
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
      `${late.length} report(s) came too late to count, the last a ${late.at(-1)?.type}; a late report changes nothing by itself.`,
    );
  if (integration?.publicationFailure)
    facts.push(`The last push was refused (${inWords(integration.publicationFailure)}).`);
  if (preparation !== null)
    facts.push(`The work was begun anew on another branch (${inWords(preparation.reasonCode)}).`);
  return facts;
}
