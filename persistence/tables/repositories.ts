/** Registered repositories (ruling 12). The common git directory identifies one; its worktrees share it. */
import type { Connection } from '../connection.ts';

export interface Repository {
  readonly repoId: string;
  /** Where the user pointed at it; for display. */
  readonly path: string;
  readonly commonGitDir: string;
  readonly addedWallMs: number;
}

export interface RepositoriesTable {
  /** Adds a repository, or answers with the one that already has this common git directory. */
  add(repository: Repository): Repository;
  find(repoId: string): Repository | undefined;
  findByCommonGitDir(commonGitDir: string): Repository | undefined;
  list(): readonly Repository[];
}

export function createRepositoriesTable(connection: Connection): RepositoriesTable {
  const from = `SELECT repo_id AS repoId, path, common_git_dir AS commonGitDir, added_wall_ms AS addedWallMs
    FROM repositories`;
  const insert = connection.prepare(`INSERT INTO repositories (repo_id, path, common_git_dir, added_wall_ms)
    VALUES (?, ?, ?, ?) ON CONFLICT (common_git_dir) DO NOTHING`);
  const byId = connection.prepare(`${from} WHERE repo_id = ?`);
  const byDirectory = connection.prepare(`${from} WHERE common_git_dir = ?`);
  const all = connection.prepare(`${from} ORDER BY added_wall_ms, repo_id`);

  return {
    add({ repoId, path, commonGitDir, addedWallMs }) {
      insert.run(repoId, path, commonGitDir, addedWallMs);
      return byDirectory.get(commonGitDir) as Repository;
    },
    find: (repoId) => byId.get(repoId) as Repository | undefined,
    findByCommonGitDir: (commonGitDir) => byDirectory.get(commonGitDir) as Repository | undefined,
    list: () => all.all() as Repository[],
  };
}
