/**
 * The references of a repository, and which of them stay when a worktree is cleaned up together with its branch: what only
 * such a branch reaches is kept nowhere else.
 */
import type { GitLooks, Repository } from './gitLook.ts';

export interface Reference {
  readonly name: string;
  readonly commit: string;
  readonly tree: string;
}

export interface References {
  /** Branches and remote-tracking branches. */
  readonly all: readonly Reference[];
  /** What HEADs of remotes point to: their default branches. */
  readonly remoteDefaults: readonly string[];
  /** By branch: the remote-tracking branch that it is compared with. */
  readonly upstreams: ReadonlyMap<string, string>;
  /** The commit of refs/stash. */
  readonly stash: string | null;
  /** Those of this worktree alone, which go with it (git-worktree(1)): what each names may be no commit. */
  readonly perWorktree: readonly { readonly name: string; readonly commit: string | null }[];
  readonly evidenceId: string;
}

const format = ['objecttype', 'objectname', 'tree', 'refname', 'symref', 'upstream']
  .map((name) => `%(${name})`)
  .join('%00');

const goingAlong = ['refs/bisect', 'refs/rewritten', 'refs/worktree'];
const isGoingAlong = (name: string): boolean => goingAlong.some((above) => name.startsWith(`${above}/`));

/** Throws LookFailed. */
export async function lookAtReferences(looks: GitLooks, repository: Repository): Promise<References> {
  const args = ['for-each-ref', `--format=${format}`, 'refs/heads', 'refs/remotes', 'refs/stash', ...goingAlong];
  const { stdout, evidenceId } = await looks.ask(repository, { args });
  return { ...parseReferences(stdout), evidenceId };
}

/** Names of references hold neither line feeds nor NULs (git-check-ref-format(1)), and a subject is one line. */
export function parseReferences(output: Buffer): Omit<References, 'evidenceId'> {
  const all: Reference[] = [];
  const remoteDefaults: string[] = [];
  const upstreams = new Map<string, string>();
  const perWorktree: { name: string; commit: string | null }[] = [];
  let stash: string | null = null;
  for (const line of output.toString('utf8').split('\n')) {
    const [type, commit = '', tree = '', name = '', symref = '', upstream = ''] = line.split('\0');
    if (isGoingAlong(name)) perWorktree.push({ name, commit: type === 'commit' ? commit : null });
    if (type !== 'commit' || isGoingAlong(name)) continue;
    if (name === 'refs/stash') stash = commit;
    else if (symref !== '') {
      if (name.startsWith('refs/remotes/')) remoteDefaults.push(symref);
    } else {
      all.push({ name, commit, tree });
      if (upstream !== '') upstreams.set(name, upstream);
    }
  }
  return { all, remoteDefaults, upstreams, stash, perWorktree };
}

export interface Leaving {
  /** Branches (full names) that go with worktrees that may be cleaned up; the default branch is never one of them. */
  readonly branches: ReadonlySet<string>;
  /** The branch of the main working tree. */
  readonly mainBranch: string | undefined;
}

const usualDefaults = ['refs/heads/main', 'refs/heads/master', 'refs/heads/trunk', 'refs/heads/develop'];

/** What stays, the default branch and what it is compared with first, because there most work is merged. */
export function stayingOf({ all, remoteDefaults, upstreams }: References, leaving: Leaving): readonly Reference[] {
  const staying = all.filter(({ name }) => name.startsWith('refs/remotes/') || !leaving.branches.has(name));
  const { mainBranch } = leaving;
  const local = [...(mainBranch === undefined ? [] : [mainBranch]), ...usualDefaults];
  const own = [...leaving.branches].flatMap((branch) => upstreams.get(branch) ?? []);
  const first = [...local, ...remoteDefaults, ...local.flatMap((name) => upstreams.get(name) ?? []), ...own];
  const rank = (name: string) => (first.includes(name) ? first.indexOf(name) : first.length);
  return staying.toSorted((one, other) => rank(one.name) - rank(other.name));
}
