/** Worktree generations: made by our own guarded git, closed and sealed by explicit requests. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { GenerationId, GoalId, RepoId, ScopeId } from '../../../machines/ids.ts';
import type { Draft } from '../../host/outcome.ts';
import { everyActor, required, resolveId, warningsOf } from '../actorAccess.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { WorktreeView } from '../api/views.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { contractDraft } from '../contract/record.ts';
import { filterDriversOf, git, Serial } from '../git/git.ts';
import { gitDirectoryOf } from '../git/locate.ts';
import { OperatingError } from '../operatingError.ts';
import { type RequestKey, requestKey, wasApplied } from '../requestIds.ts';
import { assertAccepted, draft } from '../submission.ts';
import { blockerViews, worktreeView } from '../views/worktreeView.ts';
import { fileIdentityOf } from '../worktreeIdentity.ts';

const by = 'operator';
const perRepository = new Serial();

export async function addWorktree(
  context: DaemonContext,
  args: ParsedArguments<'worktrees.add'>,
): Promise<Answer<WorktreeView>> {
  const { host, store, places } = context;
  const goalId = resolveId(store, 'goal', args.goalId);
  const goal = required(host, 'goal', goalId);
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
  const key = requestKey(store.installationId, 'worktrees.add', args.requestId);
  const generationId = key.idOf<GenerationId>('W');
  if (wasApplied(host, key, ['worktreeGeneration', generationId])) return { data: worktreeView(context, generationId) };
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
  ] as const) {
    if (value.startsWith('-'))
      throw new OperatingError({ code: 'usage', message: `${name} may not begin with a dash`, exitCode: 2 });
  }
  return perRepository.run(plan.commonGitDir, () => createWorktree(context, plan));
}

interface WorktreePlan {
  readonly key: RequestKey;
  readonly generationId: GenerationId;
  readonly goalId: GoalId;
  readonly repoId: RepoId;
  readonly repository: string;
  readonly commonGitDir: string;
  readonly path: string;
  readonly branch: string;
  readonly base: string;
}

/** Scope ids are random: each attempt of a repeated request is an execution of its own. */
const freshScope = (context: DaemonContext): ScopeId =>
  requestKey(context.store.installationId, 'effect', undefined).idOf('S');

async function createWorktree(context: DaemonContext, plan: WorktreePlan): Promise<Answer<WorktreeView>> {
  await mkdir(dirname(plan.path), { recursive: true, mode: 0o700 });
  if (!isLeftFromEarlierAttempt(plan)) {
    const cwd = plan.repository;
    const filterDrivers = await filterDriversOf(context, { scopeId: freshScope(context), cwd });
    const args = ['worktree', 'add', '--no-track', '-b', plan.branch, plan.path, plan.base];
    await git(context, { scopeId: freshScope(context), cwd, args, filterDrivers });
  }
  const head = await git(context, { scopeId: freshScope(context), cwd: plan.path, args: ['rev-parse', 'HEAD'] });
  assertAccepted(await context.host.submit(registration(context, plan, head.toString('latin1').trim())));
  return { data: worktreeView(context, plan.generationId) };
}

/**
 * A daemon that died between git and the commit leaves the worktree of this very request behind; it is taken over. Only a
 * name that was made for this request tells it from a worktree that somebody else uses.
 */
function isLeftFromEarlierAttempt(plan: WorktreePlan): boolean {
  const { path, commonGitDir } = plan;
  if (!existsSync(path)) return false;
  const gitDir = gitDirectoryOf(path);
  if (gitDir === undefined || dirname(gitDir) !== join(commonGitDir, 'worktrees') || !isNamedByUs(plan, gitDir)) {
    throw new OperatingError({
      code: 'preconditions_unmet',
      message: `${JSON.stringify(path)} exists already`,
      exitCode: 13,
      next: ['choose another --path'],
    });
  }
  // Git locks what it has not filled yet, and leaves the lock behind when it is killed (git-worktree(1)).
  if (existsSync(join(gitDir, 'locked'))) {
    throw new OperatingError({
      code: 'worktree_incomplete',
      message: `git is not done with ${JSON.stringify(path)}, or was interrupted there`,
      exitCode: 10,
      retryable: true,
      next: [
        'repeat the command',
        `if that does not help: git worktree remove --force --force ${JSON.stringify(path)}`,
      ],
    });
  }
  return true;
}

/** The default path and the default branch carry the id of the generation, which follows from the request. */
function isNamedByUs({ path, branch, generationId }: WorktreePlan, gitDir: string): boolean {
  if (basename(path) === generationId) return true;
  return branch.endsWith(generationId) && readFileSync(join(gitDir, 'HEAD'), 'utf8') === `ref: refs/heads/${branch}\n`;
}

/** Created by Custody means managed from birth (ruling 15), with the host's contract if there is one. */
function registration(context: DaemonContext, plan: WorktreePlan, baseCommit: string): Draft[] {
  const to = ['worktreeGeneration', plan.generationId] as const;
  const { key, generationId, goalId, repoId, branch, path } = plan;
  const registered = {
    generationId,
    path,
    fsIdentity: fileIdentityOf(path),
    origin: 'native' as const,
    controller: 'custody',
    repoId,
    goalId,
    branch,
    baseCommit,
  };
  return [
    draft('generation.registered', { to, payload: registered, by, eventId: key.eventId }),
    draft('authority.granted', {
      to,
      payload: { requestId: key.requestId, actor: by, gateReport: null },
      by,
      eventId: `${key.eventId}:grant`,
    }),
    ...contractDraft(context.store, generationId),
  ];
}

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
  return { data: worktreeView(context, resolveId(context.store, 'worktreeGeneration', args.id)) };
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
  wasApplied(host, key, ['worktreeGeneration', id]);
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
  wasApplied(host, key, ['worktreeGeneration', id]);
  if (required(host, 'worktreeGeneration', id).matches({ lifecycle: 'sealed' }))
    return { data: worktreeView(context, id) };
  const payload = { requestId: key.requestId, actor: by };
  const [outcome] = await host.submit([
    draft('seal.requested', { to: ['worktreeGeneration', id], payload, by, eventId: key.eventId }),
  ]);
  if (outcome!.outcome === 'changed' || outcome!.outcome === 'duplicate') return { data: worktreeView(context, id) };
  const blockers = await blockerViews(context, required(host, 'worktreeGeneration', id));
  const first = blockers[0];
  throw new OperatingError({
    code: 'seal_refused',
    message: `${id} cannot be sealed: ${first ? first.detail : outcome!.reason}${blockers.length > 1 ? ` (and ${blockers.length - 1} more)` : ''}`,
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
    if (code.startsWith('contract_')) steps.add('custody contract check');
  }
  return [...steps];
}
