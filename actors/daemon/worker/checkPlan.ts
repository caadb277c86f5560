/** What one check is launched with and recorded by, and how its records name each other. */
import type { Basis } from '../../../machines/basis.ts';
import type { ClaimId, RunId, ScopeId } from '../../../machines/ids.ts';
import type { RunSnapshot } from '../../../machines/run.ts';
import type { Draft } from '../../host/outcome.ts';
import { draft } from '../../runtime/submission.ts';
import { requestKey } from '../commands/requestIds.ts';
import { type Recipe, recipeDigest } from '../launch/recipe.ts';
import { goalRefOf, type Reservation, reservationDrafts, workOrder } from '../launch/reservation.ts';
import { checkLabel, type DueCheck } from './dueChecks.ts';
import type { CheckParts } from './parts.ts';

const by = 'worker';

export const claimIdOf = (checkId: string): ClaimId => `${checkId}-claim` as ClaimId;

/** The check that such a claim was made for; undefined for the claims of anybody else. */
export const checkIdOf = (claimId: string): string | undefined => /^(R.+)-claim$/.exec(claimId)?.[1];
export const receiptIdOf = (checkId: string): string => `check:${checkId}`;

/** A check is its run; on what it was begun stands in the run's record. */
export function basisOf({ runId, goalRef }: RunSnapshot['context']): Basis | undefined {
  return goalRef === null ? undefined : { ...goalRef, claimId: claimIdOf(runId) };
}

export const newCheckId = ({ store }: Pick<CheckParts, 'store'>): RunId =>
  requestKey(store.installationId, 'check', undefined).idOf<RunId>('R');

export interface CheckPlan {
  readonly scopeId: ScopeId;
  readonly recipe: Recipe;
  /** Claim, step and run in one commit: a Goal is never in the step of a check that was not launched. */
  readonly drafts: readonly Draft[];
}

export function checkPlan(parts: CheckParts, due: DueCheck, checkId: RunId): CheckPlan {
  const { store } = parts;
  const { goal } = due;
  const scopeId = requestKey(store.installationId, 'check', checkId).idOf<ScopeId>('S');
  const isQueued = goal.context.status === 'todo';
  const before = goalRefOf(goal);
  const goalRef = isQueued ? { ...before, occurrence: before.occurrence + 1, step: 'plan' as const } : before;
  const job = { runId: checkId, scopeId, goal, goalRef };
  const recipe = recipeOf(parts, due, job);
  const inputsDigest = questionDigest(recipe);
  const drafts = [
    ...(isQueued ? advance(parts, { before, checkId, inputsDigest }) : []),
    claim(parts, goalRef, claimIdOf(checkId)),
    ...reservationDrafts(parts, reservationOf(parts, due, { ...job, inputsDigest })),
  ];
  return { scopeId, recipe, drafts };
}

type Job = Pick<Reservation, 'runId' | 'scopeId' | 'goalRef'> & { readonly goal: DueCheck['goal'] };

function recipeOf(parts: CheckParts, { argv, generation }: DueCheck, job: Job): Recipe {
  return {
    argv,
    env: { ...parts.worker.environment, ...workOrder(parts, { ...job, generation }) },
    cwd: generation.context.path,
    umask: 0o022,
    stdin: null,
    startedBy: 'worker',
  };
}

/** The same question has the same digest (GOAL-08): which run, scope and occurrence it is asked in is left out. */
function questionDigest(recipe: Recipe): string {
  const { CUSTODY_RUN: _, CUSTODY_SCOPE: __, CUSTODY_OCCURRENCE: ___, ...env } = recipe.env;
  return recipeDigest({ ...recipe, env });
}

function reservationOf(
  { config, store, workerIdentity }: CheckParts,
  { generation }: DueCheck,
  { runId, scopeId, goalRef, inputsDigest }: Job & { readonly inputsDigest: string },
): Reservation {
  return {
    runId,
    scopeId,
    parentScopeId: workerIdentity().scopeId,
    generation,
    goalRef,
    recipeDigest: inputsDigest,
    label: checkLabel,
    onRootExit: 'terminate',
    graceMs: config.graceMs,
    budgetMs: config.drainBudgetMs,
    by,
    eventId: `${store.installationId}:check:${runId}`,
  };
}

interface Advance {
  readonly before: Reservation['goalRef'];
  readonly checkId: RunId;
  readonly inputsDigest: string;
}

/** Every step has its own claim: the one of the queue ends with it. */
function advance(parts: CheckParts, { before, checkId, inputsDigest }: Advance): Draft[] {
  const claimId = `${checkId}-queue` as ClaimId;
  const payload = { to: 'plan' as const, receiptIds: [], inputsDigest };
  const to = ['goal', before.goalId] as const;
  return [claim(parts, before, claimId), draft('step.advanced', { to, payload, by, basis: { ...before, claimId } })];
}

function claim({ workerIdentity }: CheckParts, goalRef: Reservation['goalRef'], claimId: ClaimId): Draft {
  const payload = { claimId, incarnationTokenHash: workerIdentity().launchTokenHash };
  return draft('claim.recorded', { to: ['goal', goalRef.goalId], payload, by, basis: { ...goalRef, claimId: null } });
}
