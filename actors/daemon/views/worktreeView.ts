/** A worktree generation as the command line shows it, and what stands between it and its seal. */
import { type GenerationSnapshot, sealBlockersOf } from '../../../machines/worktreeGeneration.ts';
import { required } from '../../runtime/actorAccess.ts';
import type { BlockerView, WorktreeView } from '../api/views.ts';
import type { DaemonContext } from '../context.ts';
import { statePath } from './scopeView.ts';

export function worktreeView({ host }: Pick<DaemonContext, 'host'>, generationId: string): WorktreeView {
  const generation = required(host, 'worktreeGeneration', generationId);
  const { context } = generation;
  return {
    generationId,
    path: context.path,
    branch: context.branch,
    baseCommit: context.baseCommit,
    goalId: context.goalId,
    repoId: context.repoId,
    lifecycle: statePath(generation.value.lifecycle),
    authority: statePath(generation.value.authority),
    controller: context.controller,
    origin: context.origin,
    authorityEpoch: context.authorityEpoch,
    ownershipEpoch: context.ownershipEpoch,
    sealEpoch: context.sealEpoch === 0 ? null : context.sealEpoch,
    runs: Object.entries(context.admitted).map(([runId, { run, scopes }]) => ({ runId, state: run, scopes })),
    coverageGaps: context.coverageGaps.open.length,
    contract: context.noWritersContract
      ? `${context.noWritersContract.contract} (${context.noWritersContract.kernel})`
      : null,
  };
}

/** The blockers of a seal with, for each open scope, who holds it. */
export async function blockerViews(
  context: DaemonContext,
  generation: GenerationSnapshot,
): Promise<readonly BlockerView[]> {
  const views: BlockerView[] = [];
  for (const { code, detail, runId, scopeId } of sealBlockersOf(generation)) {
    const membership = scopeId === undefined ? undefined : await context.guardians.members(scopeId);
    views.push({
      code,
      detail,
      ...(runId === undefined ? {} : { runId }),
      ...(scopeId === undefined ? {} : { scopeId }),
      ...(membership === undefined ? {} : { holders: membership.members }),
    });
  }
  return views;
}
