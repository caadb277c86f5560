/** Explanations in a daemon: what is committed, and who is in the trees that matter, as their guardians say now. */
import type { ExplainParts } from '../../actors/daemon/explainer.ts';
import { checkOf } from '../../actors/daemon/worker/target.ts';
import { intact } from '../../actors/runtime/actorAccess.ts';
import type { ActorKind } from '../../machines/ids.ts';
import { handoffBlockersOf, sealBlockersOf } from '../../machines/worktreeGeneration.ts';
import { explain } from './explain.ts';
import type { Explanation } from './explanation.ts';
import type { ExplainSource, Members } from './source.ts';

export async function explainInDaemon(
  context: ExplainParts,
  { kind, id }: { readonly kind: ActorKind; readonly id: string },
): Promise<Explanation | undefined> {
  const scopeIds = scopesOf(context, kind, id);
  const asked = await Promise.all(
    scopeIds.map(async (one) => [one, (await context.guardians.members(one)) ?? 'unanswered'] as const),
  );
  return explain(sourceIn(context, new Map(asked)), kind, id);
}

export const sourceIn = (
  { host, store, config, pendingLaunches }: Omit<ExplainParts, 'guardians'>,
  members: ReadonlyMap<string, Members | 'unanswered'> = new Map(),
): ExplainSource => ({
  host,
  journal: store.journal,
  nodeId: store.nodeId,
  hasCheck: (repoId) => {
    const repository = repoId === null ? undefined : store.repositories.find(repoId);
    return repository !== undefined && checkOf(config.checks, repository.path) !== undefined;
  },
  isLaunchedHere: (scopeId) => pendingLaunches.get(scopeId) !== undefined,
  membersOf: (scopeId) => members.get(scopeId),
});

/** Guardians answer one after the other at worst, so only so many are asked. */
const askedAtMost = 8;

/** The scopes whose holders the text names, as far as their end is not proved and a guardian has reported. */
function scopesOf({ host }: Pick<ExplainParts, 'host'>, kind: ActorKind, id: string): readonly string[] {
  const isOpen = (scopeId: string): boolean => {
    const scope = intact(host, 'executionScope', scopeId);
    return (
      scope !== undefined && scope !== 'corrupt' && scope.context.guardian !== null && !scope.hasTag('capacityReleased')
    );
  };
  return candidates({ host }, kind, id).filter(isOpen).slice(0, askedAtMost);
}

function candidates({ host }: Pick<ExplainParts, 'host'>, kind: ActorKind, id: string): readonly string[] {
  if (kind === 'executionScope') return [id];
  if (kind !== 'worktreeGeneration') return [];
  const generation = intact(host, 'worktreeGeneration', id);
  if (generation === undefined || generation === 'corrupt') return [];
  const blockers = [...sealBlockersOf(generation), ...handoffBlockersOf(generation)];
  return [...new Set(blockers.flatMap(({ scopeId }) => scopeId ?? []))];
}
