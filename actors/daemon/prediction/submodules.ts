/**
 * Submodules that are checked out below a worktree. Git would look into each with that one's own configuration, filters
 * and all, so each is asked the way the worktree is. Their repositories lie in the git directory of a linked worktree and
 * go with it, so their commits have to be known to a remote as well.
 */
import { join } from 'node:path';
import { gitDirectoryOf } from '../../runtime/locate.ts';
import { filterDriversIn } from '../git/command.ts';
import { counted, type Fact, quoted } from './fact.ts';
import type { GitLooks } from './gitLook.ts';
import { lookAtStatus } from './worktreeStatus.ts';

const mostSubmodules = 16;

interface Below {
  /** Of the repository that the submodule lies in. */
  readonly worktree: string;
  readonly path: string;
}

/** Throws LookFailed. */
export async function lookAtSubmodules(looks: GitLooks, worktree: string, paths: readonly string[]): Promise<Fact[]> {
  const waiting: Below[] = paths.map((path) => ({ worktree, path }));
  const facts: Fact[] = [];
  for (let done = 0; waiting.length > 0; done += 1) {
    if (done >= mostSubmodules) {
      const detail = `${counted(waiting.length, 'submodule was', 'submodules were')} not looked into: there are too many`;
      return [...facts, { code: 'inspection_failed', detail, evidenceIds: [] }];
    }
    const next = waiting.shift()!;
    const { fact, nested } = await lookAtOne(looks, next);
    if (fact !== undefined) facts.push(fact);
    waiting.push(...nested);
  }
  return facts;
}

async function lookAtOne(looks: GitLooks, { worktree: above, path }: Below) {
  const worktree = join(above, path);
  const gitDir = repositoryOf(worktree);
  // Not checked out: there is nothing of it here.
  if (gitDir === undefined) return { nested: [] };
  if (gitDir === 'broken') {
    const detail = `the .git of submodule ${quoted(path)} leads to no repository`;
    return { fact: { code: 'submodule_changes', detail, evidenceIds: [] }, nested: [] };
  }
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
  if (status.head === null) return { nested };
  const args = ['rev-list', '--max-count=1', status.head, '--not', '--remotes'];
  const { stdout, evidenceId } = await looks.ask(repository, { args });
  if (stdout.length === 0) return { nested };
  const detail = `submodule ${quoted(path)} has a commit that no remote-tracking branch of it has`;
  const commit = stdout.toString('latin1').trim();
  return { fact: { code: 'submodule_changes', detail, evidenceIds: [commit, ...evidenceIds, evidenceId] }, nested };
}

function repositoryOf(worktree: string): string | 'broken' | undefined {
  try {
    return gitDirectoryOf(worktree);
  } catch {
    return 'broken';
  }
}
