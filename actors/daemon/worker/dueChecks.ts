/** Which Goal's check is due. The answer follows from committed facts alone, so two daemons give the same. */
import type { GoalSnapshot } from '../../../machines/goal.ts';
import { goalEligibility } from '../../../machines/goalEligibility.ts';
import type { GoalId, NodeId, ScopeId } from '../../../machines/ids.ts';
import type { RunSnapshot } from '../../../machines/run.ts';
import type { GenerationSnapshot } from '../../../machines/worktreeGeneration.ts';
import { everyActor, intact } from '../../runtime/actorAccess.ts';
import { isInPlace } from '../../runtime/generations.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { checkOutcome } from './checkOutcome.ts';
import { checkOf } from './target.ts';

export const checkLabel = 'check';

export interface DueCheck {
  readonly goal: GoalSnapshot;
  readonly generation: GenerationSnapshot;
  readonly argv: readonly string[];
}

type Parts = Pick<Runtime, 'host' | 'store' | 'config'>;

/** The oldest one that is due; `isHeldBack` leaves out Goals whose check was refused a moment ago. */
export function nextDueCheck(parts: Parts, isHeldBack: (goalId: string) => boolean): DueCheck | undefined {
  for (const { id, snapshot } of everyActor(parts.host, 'goal', { settled: false })) {
    if (snapshot === 'corrupt' || isHeldBack(id)) continue;
    const due = dueFor(parts, snapshot);
    if (due !== undefined) return due;
  }
  return undefined;
}

function dueFor(parts: Parts, goal: GoalSnapshot): DueCheck | undefined {
  const { host, store, config } = parts;
  const { goalId, repoId } = goal.context;
  if (!goalEligibility(goal, store.nodeId as NodeId).eligible || !isWaiting(parts, goal)) return undefined;
  const repository = repoId === null ? undefined : store.repositories.find(repoId);
  const argv = repository && checkOf(config.checks, repository.path);
  if (argv === undefined || isBeingWorkedOn(parts, goalId)) return undefined;
  const generation = openGeneration(host, goalId);
  return generation && { goal, generation, argv };
}

/** Queued; or in the step that an earlier check began, where that one said nothing about the work. */
function isWaiting(parts: Parts, goal: GoalSnapshot): boolean {
  if (goal.context.status === 'todo') return true;
  const last = openCheck(parts, goal);
  if (last === undefined) return false;
  const { kind } = checkOutcome(parts, last.rootScopeId);
  return kind === 'interrupted' || kind === 'neverRan';
}

type CheckRun = RunSnapshot['context'] & { readonly rootScopeId: ScopeId };

/** The check that the Goal is in the hands of: begun in this occurrence, and nothing is recorded of it yet. */
function openCheck(parts: Pick<Runtime, 'host'>, goal: GoalSnapshot): CheckRun | undefined {
  const { status, occurrence, receipts, claim } = goal.context;
  if (status !== 'plan' || claim === null || receipts.some((receipt) => receipt.occurrence === occurrence.n))
    return undefined;
  return lastCheck(parts, goal);
}

/** Every check that is open, whichever worker launched it: what it says of the work is as good from the next one. */
export function* openChecks(parts: Parts): Generator<CheckRun> {
  for (const { snapshot } of everyActor(parts.host, 'goal', { settled: false })) {
    const run = snapshot === 'corrupt' ? undefined : openCheck(parts, snapshot);
    if (run !== undefined) yield run;
  }
}

/** The newest check of this occurrence; none where something else brought the Goal here. */
function lastCheck({ host }: Pick<Runtime, 'host'>, goal: GoalSnapshot): CheckRun | undefined {
  const { goalId, occurrence } = goal.context;
  let last: CheckRun | undefined;
  for (const { snapshot } of everyActor(host, 'run', { link: { name: 'goalId', value: goalId } })) {
    if (snapshot === 'corrupt') continue;
    const { label, goalRef, rootScopeId } = snapshot.context;
    const isCheck = label === checkLabel && rootScopeId !== null && isOfWorker(host, rootScopeId);
    if (isCheck && goalRef?.occurrence === occurrence.n) last = { ...snapshot.context, rootScopeId };
  }
  return last;
}

/** People may give their runs the same label. */
function isOfWorker(host: Runtime['host'], scopeId: string): boolean {
  const scope = intact(host, 'executionScope', scopeId);
  return scope !== undefined && scope !== 'corrupt' && scope.context.parentScopeId !== null;
}

/** A check beside somebody who writes there would say nothing about the work. */
const isBeingWorkedOn = ({ host }: Parts, goalId: GoalId): boolean =>
  host.list('executionScope', { released: false, link: { name: 'goalId', value: goalId }, limit: 1 }).length > 0;

function openGeneration(host: Runtime['host'], goalId: GoalId): GenerationSnapshot | undefined {
  let newest: GenerationSnapshot | undefined;
  const link = { name: 'goalId', value: goalId };
  for (const { snapshot } of everyActor(host, 'worktreeGeneration', { settled: false, link })) {
    if (snapshot === 'corrupt' || !snapshot.matches({ lifecycle: 'open', authority: 'managed' })) continue;
    if (isInPlace(snapshot)) newest = snapshot;
  }
  return newest;
}
