/** Worktree generations: added, closed and sealed by explicit requests. */
import { join } from 'node:path';
import type { GenerationId, GoalId, RepoId } from '../../../machines/ids.ts';
import { everyActor, required, resolveId, warningsOf } from '../../runtime/actorAccess.ts';
import { resolveWorktree } from '../../runtime/generations.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { assertAccepted, draft } from '../../runtime/submission.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { WorktreeView } from '../api/views.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { claimRepository } from '../git/authorityRecord.ts';
import { assertMayMakeWorktrees } from '../promotion/control.ts';
import { blockerViews, notedRuns, worktreeView } from '../views/worktreeView.ts';
import { writersBeside } from '../views/writers.ts';
import { assertController } from './controlling.ts';
import { requestKey, reusedRequest, wasApplied } from './requestIds.ts';
import { createWorktree, type WorktreePlan } from './worktreeCreation.ts';

const by = 'operator';

export async function addWorktree(
  context: DaemonContext,
  args: ParsedArguments<'worktrees.add'>,
): Promise<Answer<WorktreeView>> {
  const { host, store, places } = context;
  const goalId = resolveId(store, 'goal', args.goalId);
  const goal = required(host, 'goal', goalId);
  const key = requestKey(store.installationId, 'worktrees.add', args.requestId);
  const generationId = key.idOf<GenerationId>('W');
  if (wasApplied(host, key, ['worktreeGeneration', generationId])) {
    const first = worktreeView(context, generationId);
    const isSame =
      first.goalId === goalId &&
      (args.path === undefined || args.path === first.path) &&
      (args.branch === undefined || args.branch === first.branch);
    if (isSame) return { data: first };
    throw reusedRequest(key.requestId);
  }
  const repository = goal.context.repoId === null ? undefined : store.repositories.find(goal.context.repoId);
  if (repository === undefined)
    throw new OperatingError({
      code: 'preconditions_unmet',
      message: `${goalId} belongs to no registered repository`,
      exitCode: 13,
      next: ['custody repos add PATH'],
    });
  if (goal.hasTag('terminal'))
    throw new OperatingError({
      code: 'preconditions_unmet',
      message: `${goalId} is ${goal.context.status}`,
      exitCode: 13,
      next: [`custody goals show ${goalId}`],
    });
  const plan: WorktreePlan = {
    key,
    generationId,
    goalId: goalId as GoalId,
    repoId: repository.repoId as RepoId,
    repository: repository.path,
    commonGitDir: repository.commonGitDir,
    path: args.path ?? join(places.worktreesDir, generationId),
    branch: args.branch ?? `custody/${goalId}-${generationId}`,
    base: args.base,
  };
  for (const [name, value] of [
    ['branch', plan.branch],
    ['base', plan.base],
    ['path', plan.path],
  ] as const) {
    if (value.includes('\0')) throw unspeakable(name);
    if (value.startsWith('-'))
      throw new OperatingError({
        code: 'usage',
        message: `${name} may not begin with a dash`,
        exitCode: 2,
        next: [`choose another --${name}`],
      });
  }
  assertMayMakeWorktrees(context, repository.commonGitDir);
  claimRepository(repository.commonGitDir, store.installationId);
  await createWorktree(context, plan);
  return { data: worktreeView(context, generationId) };
}

/** No system call can be told of it (execve(2)), so no attempt will ever succeed. */
const unspeakable = (name: string): OperatingError =>
  new OperatingError({
    code: 'request_invalid',
    message: `${name} may not contain a NUL byte`,
    exitCode: 2,
    next: [`choose another --${name}`],
  });

export async function listWorktrees(
  context: DaemonContext,
  args: ParsedArguments<'worktrees.list'>,
): Promise<Answer<CallResults['worktrees.list']>> {
  const link =
    args.goalId === undefined ? undefined : { name: 'goalId', value: resolveId(context.store, 'goal', args.goalId) };
  const filter = { ...(args.all ? {} : { settled: false }), ...(link ? { link } : {}) };
  const worktrees = [];
  const corrupt: string[] = [];
  for (const { id, snapshot } of everyActor(context.host, 'worktreeGeneration', filter)) {
    if (snapshot === 'corrupt') corrupt.push(id);
    else worktrees.push(worktreeView(context, id));
  }
  return { data: { worktrees }, warnings: warningsOf('worktreeGeneration', corrupt) };
}

export async function showWorktree(
  context: DaemonContext,
  args: ParsedArguments<'worktrees.show'>,
): Promise<Answer<WorktreeView>> {
  const id = resolveWorktree(context, args.id);
  return { data: { ...worktreeView(context, id), noted: notedRuns(context, id) } };
}

export async function closeWorktree(
  context: DaemonContext,
  args: ParsedArguments<'worktrees.close'>,
): Promise<Answer<WorktreeView>> {
  const { host, store } = context;
  const id = resolveId(store, 'worktreeGeneration', args.id);
  const key = requestKey(store.installationId, 'worktrees.close', args.requestId);
  const payload = { requestId: key.requestId, actor: by };
  const generation = required(host, 'worktreeGeneration', id);
  if (wasApplied(host, key, ['worktreeGeneration', id])) return { data: worktreeView(context, id) };
  assertController(generation);
  // Closed is closed: asking again finds what was asked for.
  if (generation.matches({ lifecycle: 'open' })) {
    assertAccepted(
      await host.submit([
        draft('admission.closed', { to: ['worktreeGeneration', id], payload, by, eventId: key.eventId }),
      ]),
    );
  }
  return { data: worktreeView(context, id) };
}

/** Throws `seal_refused` (exit 13) with every blocker and, for open scopes, who holds them. */
export async function sealWorktree(
  context: DaemonContext,
  args: ParsedArguments<'worktrees.seal'>,
): Promise<Answer<WorktreeView>> {
  const { host, store } = context;
  const id = resolveId(store, 'worktreeGeneration', args.id);
  const key = requestKey(store.installationId, 'worktrees.seal', args.requestId);
  const isRepeated = wasApplied(host, key, ['worktreeGeneration', id]);
  const generation = required(host, 'worktreeGeneration', id);
  if (!isRepeated) assertController(generation);
  if (generation.matches({ lifecycle: 'sealed' })) return { data: worktreeView(context, id) };
  if (!isRepeated && writersBeside(host, generation).length > 0) throw await sealRefused(context, id);
  const payload = { requestId: key.requestId, actor: by };
  const [outcome] = await host.submit([
    draft('seal.requested', { to: ['worktreeGeneration', id], payload, by, eventId: key.eventId }),
  ]);
  if (outcome!.outcome === 'changed' || outcome!.outcome === 'duplicate') return { data: worktreeView(context, id) };
  throw await sealRefused(context, id, outcome!.reason);
}

async function sealRefused(context: DaemonContext, id: string, reason?: string): Promise<OperatingError> {
  const blockers = await blockerViews(context, required(context.host, 'worktreeGeneration', id));
  const first = blockers[0];
  return new OperatingError({
    code: 'seal_refused',
    message: `${id} cannot be sealed: ${first ? first.detail : reason}${blockers.length > 1 ? ` (and ${blockers.length - 1} more)` : ''}`,
    exitCode: 13,
    next: nextStepsFor(id, blockers),
    details: { blockers },
  });
}

function nextStepsFor(id: string, blockers: Awaited<ReturnType<typeof blockerViews>>): string[] {
  const steps = new Set<string>();
  for (const { code, runId } of blockers) {
    if (code === 'not_closed') steps.add(`custody worktrees close ${id}`);
    if ((code === 'run_active' || code === 'scope_unproved') && runId) steps.add(`custody runs stop ${runId}`);
    if (code.startsWith('contract_')) steps.add('custody contract verify');
  }
  return [...steps];
}
