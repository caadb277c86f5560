/** What a worktree has that is kept nowhere else, as far as git can tell. What cannot be found out is a fact that protects. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { GenerationSnapshot } from '../../../machines/worktreeGeneration.ts';
import { everyActor } from '../../runtime/actorAccess.ts';
import type { PredictionView } from '../api/views.ts';
import type { DaemonContext } from '../context.ts';
import { filterDriversIn } from '../git/command.ts';
import { type Containment, containmentOf, mostCommits } from './containment.ts';
import { type Fact, mostNamed, quoted } from './fact.ts';
import { GitLooks, LookFailed } from './gitLook.ts';
import { wasWorkedIn } from './history.ts';
import { isolated } from './isolated.ts';
import { lookForNested } from './nested.ts';
import { lookAtPerWorktree } from './perWorktree.ts';
import { textOf } from './place.ts';
import { lookAtReferences, type References, stayingOf } from './references.ts';
import { lookAtStashes } from './stashes.ts';
import { lookAtSubmodules } from './submodules.ts';
import { listed, lookAtStatus, type Status } from './worktreeStatus.ts';

export interface Content {
  readonly facts: readonly Fact[];
  readonly view: PredictionView['content'];
  readonly looks: PredictionView['looks'];
}

export interface ContentRequest {
  readonly gitDir: string;
  /** Ignored files protect as well. */
  readonly ignored: boolean;
  readonly limitMs: number;
}

interface Asked extends ContentRequest {
  readonly context: DaemonContext;
  readonly generation: GenerationSnapshot;
  readonly looks: GitLooks;
}

const unknownContent = { head: null, branch: null, kept: null, ignored: null } as const;

export async function lookAtContent(
  context: DaemonContext,
  generation: GenerationSnapshot,
  request: ContentRequest,
): Promise<Content> {
  const asked = { ...request, context, generation, looks: new GitLooks(context, request.limitMs) };
  const status = await attempted(() => statusOf(asked));
  if ('code' in status) return { facts: [status], view: unknownContent, looks: asked.looks.made };
  const { head, branch, ignored } = status;
  const evidenceId = status.evidenceIds[0]!;
  const { path } = generation.context;
  const { gitDir, limitMs } = request;
  const commonGitDir = commonDirectoryOf(gitDir);
  const [submodules, committed, nested] = await Promise.all([
    attempted(() => lookAtSubmodules(asked.looks, { worktree: path, gitDir }, status.submodules)),
    attempted(() => lookAtCommits(asked, status)),
    attempted(() => lookForNested(context, { path, commonGitDir, limitMs, ignored: status.ignoredNames, evidenceId })),
  ]);
  const facts = [
    ...status.facts,
    ...('code' in submodules ? [submodules] : submodules),
    ...('code' in committed ? [committed] : committed.facts),
    ...('code' in nested ? [nested] : nested),
    ...(request.ignored ? listed('ignored_files', { paths: status.ignoredNames, what: 'is ignored', evidenceId }) : []),
  ];
  const kept = 'code' in committed ? null : committed.kept;
  return { facts, view: { head, branch, kept, ignored }, looks: asked.looks.made };
}

async function statusOf({ looks, generation, gitDir }: Asked): Promise<Status> {
  const repository = { gitDir, worktree: generation.context.path };
  const { names } = await looks.filterDrivers(repository);
  return lookAtStatus(looks, { ...repository, filterDrivers: filterDriversIn(names) });
}

interface Committed {
  readonly facts: readonly Fact[];
  readonly kept: Containment['kept'];
}

/** Throws LookFailed. */
async function lookAtCommits(asked: Asked, status: Status): Promise<Committed> {
  const { context, generation, looks, gitDir } = asked;
  const { head } = status;
  if (head === null) return { facts: [neverWorkedIn(status.evidenceIds)], kept: null };
  const commonGitDir = commonDirectoryOf(gitDir);
  const references = await lookAtReferences(looks, { gitDir });
  const own = ownBranches(generation, status);
  const staying = stayingOf(references, leavingOf(asked, own, commonGitDir));
  const objects = isolated(context.places, commonGitDir, head);
  try {
    const ofHead = await containmentOf(looks, objects, { tip: head, staying });
    const others = references.all.filter(({ name, commit }) => own.includes(name) && commit !== head);
    const facts = factsOf(ofHead, status, references);
    for (const { name, commit } of others) {
      const found = await containmentOf(looks, objects, { tip: commit, staying });
      facts.push(...unmerged('unmerged_commits', found, `of ${quoted(name)} `));
    }
    if (ofHead.kept?.how === 'reachable' && !wasWorkedIn(gitDir, generation.context.baseCommit, head))
      facts.push(neverWorkedIn(ofHead.evidenceIds));
    const commits = new Set([head, ...ofHead.own.map(({ id }) => id)]);
    const branches = own.map((name) => name.replace(/^refs\/heads\//, ''));
    facts.push(...(await lookAtStashes(looks, { gitDir }, { references, branches, commits })));
    facts.push(
      ...(await lookAtPerWorktree(looks, objects, {
        references,
        kept: [head, ...staying.map(({ commit }) => commit)],
      })),
    );
    return { facts, kept: ofHead.kept };
  } finally {
    objects.remove();
  }
}

function factsOf(found: Containment, { branch }: Status, { evidenceId }: References): Fact[] {
  const code = branch === null ? 'detached_commits' : 'unmerged_commits';
  const where = branch === null ? 'of its detached head ' : `of ${quoted(branch)} `;
  return unmerged(code, { ...found, evidenceIds: [...found.evidenceIds, evidenceId] }, where);
}

function unmerged(code: string, { kept, own, evidenceIds }: Containment, where: string): Fact[] {
  if (kept !== null) return [];
  const isMore = own.length > mostCommits;
  const many = isMore ? `more than ${mostCommits} commits` : own.length === 1 ? 'a commit' : `${own.length} commits`;
  const named = own.slice(0, mostNamed).map(({ id, subject }) => `${id.slice(0, 12)} ${subject.slice(0, 120)}`);
  const detail = `${many} ${where}${own.length === 1 ? 'is' : 'are'} kept nowhere else: ${named[0]}`;
  const commits = own.slice(0, mostNamed).map(({ id }) => id);
  return [{ code, detail, evidenceIds: [...commits, ...evidenceIds].slice(0, 32), named, count: own.length }];
}

const neverWorkedIn = (evidenceIds: readonly string[]): Fact => ({
  code: 'no_work_yet',
  detail:
    'nobody has committed anything here since it is known: that nothing would be lost does not say that it is done with',
  evidenceIds,
});

/** Full names of the branches that are cleaned up with the worktree. */
function ownBranches({ context }: GenerationSnapshot, { branch }: Status): string[] {
  const names = [branch, context.branch].filter((name) => name !== null);
  return [...new Set(names.map((name) => `refs/heads/${name}`))];
}

/** Branches of other generations may be cleaned up as well: two of them never vouch for each other. */
function leavingOf({ context, generation }: Asked, own: readonly string[], commonGitDir: string) {
  const { generationId, repoId } = generation.context;
  const mainBranch = /^ref: (.+)\n/.exec(textOf(join(commonGitDir, 'HEAD')))?.[1];
  const branches = new Set(own);
  const link = repoId === null ? {} : { link: { name: 'repoId', value: repoId } };
  for (const { id, snapshot } of everyActor(context.host, 'worktreeGeneration', { settled: false, ...link })) {
    if (snapshot === 'corrupt' || id === generationId || snapshot.context.branch === null) continue;
    const name = `refs/heads/${snapshot.context.branch}`;
    if (name !== mainBranch) branches.add(name);
  }
  return { branches, mainBranch };
}

function commonDirectoryOf(gitDir: string): string {
  try {
    return resolve(gitDir, readFileSync(join(gitDir, 'commondir'), 'utf8').trim());
  } catch {
    return gitDir;
  }
}

/** A look that failed is a fact; what ails the daemon itself is thrown. */
async function attempted<T extends object>(look: () => Promise<T>): Promise<T | Fact> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof LookFailed)) throw error;
    const { code, message, evidenceIds } = error;
    return { code, detail: message, evidenceIds: evidenceIds.slice(0, 32) };
  }
}
