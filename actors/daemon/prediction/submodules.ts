/**
 * Submodules that are checked out below a worktree. Git would look into each with that one's own configuration, filters
 * and all, so each is asked the way the worktree is. Their repositories lie in the git directory of a linked worktree and
 * go with it, checked out or not, so every commit of every reference there has to be known to a remote as well.
 */
import { join, relative } from 'node:path';
import { gitDirectoryOf, isGitDirectory } from '../../runtime/locate.ts';
import { filterDriversIn } from '../git/command.ts';
import { entriesOf } from './directory.ts';
import { counted, type Fact, quoted } from './fact.ts';
import type { GitLooks, Repository } from './gitLook.ts';
import { lookAtStatus } from './worktreeStatus.ts';

const mostSubmodules = 16;

interface Below {
  /** Of the repository that the submodule lies in. */
  readonly worktree: string;
  readonly path: string;
}

export interface Above {
  readonly worktree: string;
  readonly gitDir: string;
}

/** `paths` are those of the index. Throws LookFailed. */
export async function lookAtSubmodules(
  looks: GitLooks,
  { worktree, gitDir }: Above,
  paths: readonly string[],
): Promise<Fact[]> {
  const waiting: Below[] = paths.map((path) => ({ worktree, path }));
  const facts: Fact[] = [];
  const asked = new Set<string>();
  for (let done = 0; waiting.length > 0; done += 1) {
    if (done >= mostSubmodules) {
      const detail = `${counted(waiting.length, 'submodule was', 'submodules were')} not looked into: there are too many`;
      return [...facts, { code: 'inspection_failed', detail, evidenceIds: [] }];
    }
    const next = waiting.shift()!;
    const { fact, nested } = await lookAtOne(looks, next, asked);
    if (fact !== undefined) facts.push(fact);
    waiting.push(...nested);
  }
  return [...facts, ...(await lookAtStored(looks, gitDir, asked))];
}

/** Repositories of submodules that are not checked out (any more): they go along all the same. */
async function lookAtStored(looks: GitLooks, gitDir: string, asked: ReadonlySet<string>): Promise<Fact[]> {
  const stored = (await storedIn(gitDir)).filter((one) => !asked.has(one));
  if (stored.length > mostSubmodules) {
    const detail = `${counted(stored.length, 'repository', 'repositories')} of submodules were not looked into: there are too many`;
    return [{ code: 'inspection_failed', detail, evidenceIds: [] }];
  }
  const facts: Fact[] = [];
  for (const one of stored) {
    const unknown = await unknownToRemotes(looks, { gitDir: one });
    if (unknown === undefined) continue;
    const detail = `submodule ${quoted(relative(gitDir, one))} has a commit that no remote-tracking branch of it has`;
    facts.push({ code: 'submodule_changes', detail, evidenceIds: unknown });
  }
  return facts;
}

/** Their names may have slashes in them, and each may have submodules of its own (gitrepository-layout(5), modules). */
async function storedIn(gitDir: string, depth = 0): Promise<string[]> {
  return depth > mostSubmodules ? [] : repositoriesBelow(join(gitDir, 'modules'), { depth, level: 0 });
}

async function repositoriesBelow(
  directory: string,
  { depth, level }: { readonly depth: number; readonly level: number },
): Promise<string[]> {
  if (level > mostSubmodules) return [];
  const found: string[] = [];
  for (const entry of await entriesOf(directory)) {
    if (!entry.isDirectory()) continue;
    const one = join(directory, entry.name);
    if (isGitDirectory(one)) found.push(one, ...(await storedIn(one, depth + 1)));
    else found.push(...(await repositoriesBelow(one, { depth, level: level + 1 })));
  }
  return found;
}

/** Evidence of a commit of any reference, its stash included, that no remote is known to have. Throws LookFailed. */
async function unknownToRemotes(looks: GitLooks, repository: Repository): Promise<readonly string[] | undefined> {
  const args = ['rev-list', '--max-count=1', '--all', '--not', '--remotes'];
  const { stdout, evidenceId } = await looks.ask(repository, { args });
  return stdout.length === 0 ? undefined : [stdout.toString('latin1').trim(), evidenceId];
}

async function lookAtOne(looks: GitLooks, { worktree: above, path }: Below, asked: Set<string>) {
  const worktree = join(above, path);
  const gitDir = repositoryOf(worktree);
  // Not checked out: there is nothing of it here.
  if (gitDir === undefined) return { nested: [] };
  if (gitDir === 'broken') {
    const detail = `the .git of submodule ${quoted(path)} leads to no repository`;
    return { fact: { code: 'submodule_changes', detail, evidenceIds: [] }, nested: [] };
  }
  asked.add(gitDir);
  const { names } = await looks.filterDrivers({ gitDir, worktree });
  const repository = { gitDir, worktree, filterDrivers: filterDriversIn(names) };
  const status = await lookAtStatus(looks, repository);
  const nested = status.submodules.map((one) => ({ worktree, path: one }));
  const evidenceIds = [...status.evidenceIds];
  const [first] = status.facts;
  if (first !== undefined)
    return {
      fact: { code: 'submodule_changes', detail: `in submodule ${quoted(path)}: ${first.detail}`, evidenceIds },
      nested,
    };
  const unknown = await unknownToRemotes(looks, repository);
  if (unknown === undefined) return { nested };
  const detail = `submodule ${quoted(path)} has a commit that no remote-tracking branch of it has`;
  return { fact: { code: 'submodule_changes', detail, evidenceIds: [...unknown, ...evidenceIds] }, nested };
}

function repositoryOf(worktree: string): string | 'broken' | undefined {
  try {
    return gitDirectoryOf(worktree);
  } catch {
    return 'broken';
  }
}
