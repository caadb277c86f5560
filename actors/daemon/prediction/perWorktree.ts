/** References that belong to one worktree alone: they go with it, and with them what nothing else reaches. */
import { counted, type Fact, mostNamed, quoted } from './fact.ts';
import type { GitLooks, Repository } from './gitLook.ts';
import type { References } from './references.ts';

export interface PerWorktreeQuestion {
  readonly references: References;
  /** Commits that stay, or that are judged for themselves. */
  readonly kept: readonly string[];
}

/** `objects` is a repository of our own. Throws LookFailed. */
export async function lookAtPerWorktree(
  looks: GitLooks,
  objects: Repository,
  { references: { perWorktree, evidenceId }, kept }: PerWorktreeQuestion,
): Promise<Fact[]> {
  if (perWorktree.length === 0) return [];
  const commits = perWorktree.flatMap(({ commit }) => commit ?? []);
  const args = ['rev-list', '--ignore-missing', `--max-count=${mostNamed}`, '--stdin'];
  const asked = [...commits, ...new Set(kept.map((commit) => `^${commit}`))];
  const stdin = Buffer.from(asked.map((line) => `${line}\n`).join(''));
  const answer = commits.length === 0 ? undefined : await looks.ask(objects, { args, stdin });
  const alone = answer?.stdout.toString('latin1').split('\n').filter(Boolean) ?? [];
  const others = perWorktree.filter(({ commit }) => commit === null);
  if (alone.length === 0 && others.length === 0) return [];
  const names = perWorktree.map(({ name }) => name);
  const detail = `what ${counted(names.length, 'reference')} of this worktree alone (${quoted(names[0]!)}) leads to is kept nowhere else`;
  const evidenceIds = [...alone, evidenceId, ...(answer === undefined ? [] : [answer.evidenceId])];
  return [{ code: 'worktree_references', detail, evidenceIds, named: names.slice(0, mostNamed), count: names.length }];
}
