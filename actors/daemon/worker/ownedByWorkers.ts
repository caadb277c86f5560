/**
 * What any incarnation of the worker has launched, itself included, and what is known of it: the question before every
 * replacement (REC-03, REC-04, I-24). Scopes of people and of their sessions are not asked about.
 */
import { assessOwnership, holdsOthersUp } from '../../../machines/assessment.ts';
import type { ScopeId } from '../../../machines/ids.ts';
import { everyRow, intact } from '../../runtime/actorAccess.ts';
import type { Runtime } from '../../runtime/runtime.ts';

export interface Rescan {
  readonly pending: readonly ScopeId[];
  readonly unverified: readonly ScopeId[];
}

type Parts = Pick<Runtime, 'host' | 'store'>;

/**
 * Found by their links, so that a record which cannot be read is found as well, and counts as unverified (OWN-10). Not those
 * that somebody answers for: nobody can end them, and nobody waits for them.
 */
export function unreleasedScopes({ host, store }: Parts): readonly ScopeId[] {
  const isWorker = (scopeId: string | undefined) =>
    scopeId !== undefined && host.linked('workerIncarnation', 'scopeId', scopeId).length > 0;
  const found: ScopeId[] = [];
  for (const { id, key } of everyRow(host, 'executionScope', { released: false })) {
    const isOfWorkers = isWorker(id) || isWorker(store.links.of(key).parentScopeId);
    if (isOfWorkers && !isOutOfTheWay({ host }, id)) found.push(id as ScopeId);
  }
  return found;
}

/** Whether nobody has to wait for this scope: it is proved, or somebody answers for it. */
export function isOutOfTheWay({ host }: Pick<Parts, 'host'>, scopeId: string): boolean {
  const scope = intact(host, 'executionScope', scopeId);
  return scope !== undefined && !holdsOthersUp(assessOwnership(scope));
}

export function rescan(parts: Parts): Rescan {
  const pending: ScopeId[] = [];
  const unverified: ScopeId[] = [];
  for (const scopeId of unreleasedScopes(parts)) {
    const scope = intact(parts.host, 'executionScope', scopeId);
    if (scope === undefined) continue;
    const { state } = assessOwnership(scope);
    if (state === 'live') pending.push(scopeId);
    if (state === 'unverified') unverified.push(scopeId);
  }
  return { pending, unverified };
}

/** As the events of the fence carry it. */
export const rescanPayload = ({ pending, unverified }: Rescan) => ({
  rescanned: true,
  pending: pending.length,
  unverified: unverified.length,
  scopeIds: [...unverified, ...pending].slice(0, 64),
});
