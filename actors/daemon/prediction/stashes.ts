/** Stashes that were made in a worktree: all worktrees share one list of them, and each entry says where it was made. */
import { counted, type Fact, mostNamed } from './fact.ts';
import type { GitLooks, Repository } from './gitLook.ts';
import type { References } from './references.ts';

interface Stash {
  readonly commit: string;
  /** What was checked out when it was made. */
  readonly parent: string | undefined;
  readonly subject: string;
}

export interface Whose {
  /** Short names. */
  readonly branches: readonly string[];
  /** Commits that belong to the worktree, for stashes that name no branch. */
  readonly commits: ReadonlySet<string>;
}

const mostRead = 1_000;

/** Throws LookFailed. */
export async function lookAtStashes(
  looks: GitLooks,
  repository: Repository,
  { references: { stash, evidenceId }, ...whose }: Whose & { readonly references: References },
): Promise<Fact[]> {
  if (stash === null) return [];
  const format = ['--no-commit-header', '--format=%H%x00%P%x00%s', `--max-count=${mostRead + 1}`];
  const answer = await looks.ask(repository, { args: ['rev-list', '--walk-reflogs', ...format, 'refs/stash'] });
  const listed = parseStashes(answer.stdout);
  // A list that was lost leaves its newest entry, of which nothing is known then.
  const ours = listed.length === 0 ? [{ commit: stash }] : listed.filter((one) => isOurs(one, whose));
  const looksOf = [evidenceId, answer.evidenceId];
  const cut: Fact[] =
    listed.length > mostRead
      ? [{ code: 'inspection_failed', detail: `there are more than ${mostRead} stashes`, evidenceIds: looksOf }]
      : [];
  if (ours.length === 0) return cut;
  const commits = ours.map(({ commit }) => commit);
  const detail = `${counted(ours.length, 'stash was', 'stashes were')} made here: ${commits[0]!.slice(0, 12)}`;
  const named = commits.slice(0, mostNamed);
  return [...cut, { code: 'stash', detail, evidenceIds: [...named, ...looksOf], named, count: ours.length }];
}

function parseStashes(output: Buffer): Stash[] {
  return output
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      const [commit, parents, subject] = line.split('\0');
      return commit && parents !== undefined && subject !== undefined
        ? [{ commit, parent: parents.split(' ')[0], subject }]
        : [];
    });
}

/**
 * The message of a stash's own commit: `git stash` writes "WIP on BRANCH: …" or "On BRANCH: …" (git-stash(1)), and a branch
 * has no colon in its name. Rev-list shows nothing of the list's own messages.
 */
function isOurs({ parent, subject }: Stash, { branches, commits }: Whose): boolean {
  const named = /^(?:WIP on|On) ([^:]+): /.exec(subject)?.[1];
  if (named !== undefined && named !== '(no branch)') return branches.includes(named);
  return parent !== undefined && commits.has(parent);
}
