/** Registered repositories (ruling 12). */

import { locateRepository } from '../../runtime/locate.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { RepositoryView } from '../api/views.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { claimRepository } from '../git/authorityRecord.ts';
import { requestKey } from './requestIds.ts';

type Repository = ReturnType<DaemonContext['store']['repositories']['list']>[number];

const viewOf = ({ repoId, path, commonGitDir, addedWallMs }: Repository): RepositoryView => ({
  repoId,
  path,
  commonGitDir,
  addedAt: addedWallMs,
});

/** Finds or registers the repository that holds `path`. */
export function registerRepository(context: DaemonContext, path: string, requestId?: string): Repository {
  const { store, clock } = context;
  const location = locateRepository(path);
  // Also one that is known: with the last worktree that was handed off the claim was given up.
  claimRepository(location.commonGitDir, store.installationId);
  const known = store.repositories.findByCommonGitDir(location.commonGitDir);
  if (known) return known;
  const repoId = requestKey(store.installationId, 'repos.add', requestId).idOf('P');
  const row = { repoId, path: location.path, commonGitDir: location.commonGitDir, addedWallMs: clock.now().wallMs };
  return store.write(() => store.repositories.add(row));
}

export async function addRepository(
  context: DaemonContext,
  args: ParsedArguments<'repos.add'>,
): Promise<Answer<RepositoryView>> {
  return { data: viewOf(registerRepository(context, args.path, args.requestId)) };
}

export async function listRepositories({ store }: DaemonContext): Promise<Answer<{ repositories: RepositoryView[] }>> {
  return { data: { repositories: store.repositories.list().map(viewOf) } };
}
