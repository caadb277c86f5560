/** A worktree generation as the command line shows it, and what stands between it and its seal. */
import { activeIn } from '../../../machines/notedRuns.ts';
import { type GenerationSnapshot, handoffBlockersOf, sealBlockersOf } from '../../../machines/worktreeGeneration.ts';
import { everyActor, required } from '../../runtime/actorAccess.ts';
import type { BlockerView, WorktreeView } from '../api/views.ts';
import type { DaemonContext } from '../context.ts';
import { statePath } from './scopeView.ts';
import { writersBeside } from './writers.ts';

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
    noted: Object.entries(context.noted).map(([runId, { origin }]) => ({ runId, state: 'active', origin })),
    notedCounts: { active: activeIn(context), ...context.notedSettled },
    coverageGaps: context.coverageGaps.open.length,
    contract: context.noWritersContract
      ? `${context.noWritersContract.contract} (${context.noWritersContract.kernel})`
      : null,
    version: host.versionOf('worktreeGeneration', generationId) ?? 0,
    evidence: context.evidence,
    handoff: context.handoff && { to: context.handoff.to, waitsFor: handoffBlockersOf(generation) },
    pathObservation: context.pathObservation,
  };
}

const shownRuns = 100;

/**
 * The newest runs of others in this worktree, also those that have ended, from their own records: the worktree's has no more
 * than some names and counts.
 */
export function notedRuns({ host }: Pick<DaemonContext, 'host'>, generationId: string): WorktreeView['noted'] {
  const found: Array<WorktreeView['noted'][number]> = [];
  const link = { name: 'generationId', value: generationId };
  for (const { id: runId, snapshot } of everyActor(host, 'run', { newestFirst: true, link })) {
    if (snapshot === 'corrupt' || snapshot.context.mode !== 'observe') continue;
    const { lifecycle } = snapshot.value;
    const state = lifecycle === 'ended' || lifecycle === 'cancelled' ? lifecycle : 'active';
    found.push({ runId, state, origin: snapshot.context.origin });
    if (found.length === shownRuns) break;
  }
  return found;
}

/** The blockers of a seal with, for each open scope, who holds it. */
export const blockerViews = (context: DaemonContext, generation: GenerationSnapshot): Promise<readonly BlockerView[]> =>
  withHolders(context, [...sealBlockersOf(generation), ...writersBeside(context.host, generation)]);

/** What a handoff waits for, with, for each open scope, who holds it; null where control stays. */
export async function handoffView(
  context: DaemonContext,
  generation: GenerationSnapshot,
): Promise<WorktreeView['handoff']> {
  const { handoff } = generation.context;
  if (handoff === null) return null;
  return { to: handoff.to, waitsFor: await withHolders(context, handoffBlockersOf(generation)) };
}

async function withHolders(
  context: DaemonContext,
  blockers: ReturnType<typeof sealBlockersOf>,
): Promise<readonly BlockerView[]> {
  const views: BlockerView[] = [];
  for (const { code, detail, runId, scopeId } of blockers) {
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
