/**
 * Makes the worktree of a new generation with our own guarded git, and takes over what an interrupted attempt of the same
 * request has left. Whatever else lies at its path is somebody else's.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { GenerationId, GoalId, RepoId, ScopeId } from '../../../machines/ids.ts';
import type { Draft } from '../../host/outcome.ts';
import { committed, everyActor } from '../../runtime/actorAccess.ts';
import { fileIdentityOf } from '../../runtime/generations.ts';
import { gitDirectoryOf } from '../../runtime/locate.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { Serial } from '../../runtime/serial.ts';
import { assertAccepted, draft } from '../../runtime/submission.ts';
import type { DaemonContext } from '../context.ts';
import { contractDraft, tellGeneration } from '../contract/record.ts';
import { filterDriversOf, git } from '../git/git.ts';
import { assertBeside, type Neighbour } from '../git/nesting.ts';
import { type RequestKey, requestKey } from './requestIds.ts';
import { reached } from './waiting.ts';

const by = 'operator';
/** Parallel `git worktree add` fails on the locks of the repository (D9). */
const perRepository = new Serial();

export interface WorktreePlan {
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

/** For what only looks: nobody asks afterwards how an earlier look ended. */
const freshScope = (context: DaemonContext): ScopeId =>
  requestKey(context.store.installationId, 'effect', undefined).idOf('S');

/**
 * The scope of the next attempt of this request. Git of a former daemon goes on under its guardian: it is waited for, so
 * that what it makes is found whole and nothing is made twice. Where its guardian was lost nobody can wait for it.
 */
async function nextAttempt(context: DaemonContext, key: RequestKey): Promise<ScopeId> {
  for (let attempt = 1; ; attempt += 1) {
    const scopeId = key.idOf<ScopeId>('S', `worktree add ${attempt}`);
    if (committed(context.host, 'executionScope', scopeId) === undefined) return scopeId;
    await reached(context, ['executionScope', scopeId], {
      waitMs: Number.POSITIVE_INFINITY,
      isReached: (scope) => scope.hasTag('capacityReleased') || scope.matches({ coverage: { unverified: 'gap' } }),
    });
    context.leaving.throwIfAborted();
  }
}

/** Worktrees that no record names yet: requests for other repositories are carried out at the same time. */
const beingMade = new Map<GenerationId, string>();

/**
 * One at a time in each repository. Throws `git_failed`, `path_nested`, `preconditions_unmet` (exit 13) or
 * `worktree_incomplete` (exit 10).
 */
export async function createWorktree(context: DaemonContext, plan: WorktreePlan): Promise<void> {
  const { generationId, path, commonGitDir } = plan;
  assertBeside(path, neighboursOf(context, generationId));
  beingMade.set(generationId, path);
  try {
    await perRepository.run(commonGitDir, () => create(context, plan));
  } finally {
    beingMade.delete(generationId);
  }
}

function* neighboursOf({ host }: DaemonContext, own: GenerationId): Generator<Neighbour> {
  for (const { id, snapshot } of everyActor(host, 'worktreeGeneration', { settled: false })) {
    if (snapshot !== 'corrupt') yield { generationId: id, path: snapshot.context.path };
  }
  for (const [generationId, path] of beingMade) if (generationId !== own) yield { generationId, path };
}

async function create(context: DaemonContext, plan: WorktreePlan): Promise<void> {
  await makeParent(plan.path);
  const scopeId = await nextAttempt(context, plan.key);
  if (!isLeftFromEarlierAttempt(plan)) {
    const cwd = plan.repository;
    const filterDrivers = await filterDriversOf(context, { scopeId: freshScope(context), cwd });
    // An attempt that was drained half way leaves its branch behind; one with our own name on it is made anew.
    const making = isOwnBranch(plan) ? '-B' : '-b';
    const args = ['worktree', 'add', '--no-track', making, plan.branch, plan.path, plan.base];
    await git(context, { scopeId, cwd, args, filterDrivers }).catch((error) => {
      throw isUnborn(plan, error) ? noCommitYet(plan, error) : error;
    });
  }
  const head = await git(context, { scopeId: freshScope(context), cwd: plan.path, args: ['rev-parse', 'HEAD'] });
  assertAccepted(await context.host.submit(registration(context, plan, head.toString('latin1').trim())));
  await tellGeneration(context, plan.generationId);
}

/** HEAD is there in every repository, so what it names is missing only where nothing was committed yet. */
const isUnborn = ({ base }: WorktreePlan, { code, message }: OperatingError): boolean =>
  code === 'git_failed' && base === 'HEAD' && /not a valid object name|invalid reference: HEAD/.test(message);

const noCommitYet = ({ repository }: WorktreePlan, cause: unknown): OperatingError =>
  new OperatingError(
    {
      code: 'preconditions_unmet',
      message: `${JSON.stringify(repository)} has nothing to start from: the repository has no commit yet`,
      exitCode: 13,
      next: ['git commit --allow-empty -m first'],
    },
    cause,
  );

async function makeParent(path: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const message = `${JSON.stringify(dirname(path))} cannot be made (${code})`;
    const next = ['choose another --path'];
    throw new OperatingError({ code: 'preconditions_unmet', message, exitCode: 13, next }, error);
  }
}

/**
 * A daemon that died between git and the commit leaves the worktree of this very request behind; it is taken over. Only a
 * name that was made for this request tells it from a worktree that somebody else uses.
 */
function isLeftFromEarlierAttempt(plan: WorktreePlan): boolean {
  const { path, commonGitDir } = plan;
  if (!existsSync(path)) return false;
  // Looking for `.git` below a regular file is a system error of its own (ENOTDIR).
  const gitDir = statSync(path).isDirectory() ? gitDirectoryOf(path) : undefined;
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

const isOwnBranch = ({ branch, generationId }: WorktreePlan): boolean => branch.endsWith(generationId);

/** The default path and the default branch carry the id of the generation, which follows from the request. */
function isNamedByUs(plan: WorktreePlan, gitDir: string): boolean {
  const { path, branch, generationId } = plan;
  if (basename(path) === generationId) return true;
  return isOwnBranch(plan) && readFileSync(join(gitDir, 'HEAD'), 'utf8') === `ref: refs/heads/${branch}\n`;
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
