/**
 * What the records say about one check: whether it is over, and whether its end says anything about the work. A check that
 * was made to end says nothing: no verdict is made up (SHUT-03), and what is missing is run again.
 */
import type { DrainCause } from '../../../machines/evidence.ts';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import type { ActorAddress } from '../../../machines/ids.ts';
import { intact } from '../../runtime/actorAccess.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { CheckEnd } from '../../worker/messages.ts';

export type CheckOutcome =
  | { readonly kind: 'running' }
  /** Not proved to be gone: the Goal has to wait, and so does its next check. */
  | { readonly kind: 'unverified' }
  | { readonly kind: 'ended'; readonly end: CheckEnd }
  | { readonly kind: 'neverRan' }
  | { readonly kind: 'interrupted'; readonly cause: 'crash' | 'drain' | 'replacement' }
  /** Somebody stopped it, and it is not to be begun again behind their back (D8). */
  | { readonly kind: 'stopped'; readonly requestId: string }
  | { readonly kind: 'unfinished'; readonly reasonCode: string };

type Parts = Pick<Runtime, 'host' | 'store'>;

export function checkOutcome(parts: Parts, scopeId: string): CheckOutcome {
  const scope = intact(parts.host, 'executionScope', scopeId);
  if (scope === undefined || scope === 'corrupt') return { kind: 'unverified' };
  if (scope.matches({ coverage: { unverified: 'gap' } })) return { kind: 'unverified' };
  if (!scope.hasTag('capacityReleased')) return { kind: 'running' };
  return outcomeOf(parts, scope);
}

function outcomeOf(parts: Parts, scope: ScopeSnapshot): CheckOutcome {
  const { status, drain, proof } = scope.context;
  const forced = drain === null || drain.cause === 'natural' ? undefined : forcedEnd(drain);
  if (forced !== undefined) return forced;
  if (proof?.kind === 'never_launched' || status?.how === 'notReleased') return { kind: 'neverRan' };
  if (status === null) return { kind: 'interrupted', cause: 'crash' };
  if (status.how === 'execFailed') return { kind: 'unfinished', reasonCode: 'check_not_started' };
  if (isFollowingTheWorker(parts, scope)) return { kind: 'interrupted', cause: 'crash' };
  const { how, code } = status;
  return { kind: 'ended', end: { how, code } };
}

function forcedEnd({ cause, requestId }: { cause: DrainCause; requestId: string }): CheckOutcome {
  switch (cause) {
    case 'deadline':
      return { kind: 'unfinished', reasonCode: 'check_deadline' };
    case 'capture_fault':
      return { kind: 'unfinished', reasonCode: 'capture_fault' };
    case 'stop':
      return { kind: 'stopped', requestId };
    case 'recovery':
      return { kind: 'interrupted', cause: 'replacement' };
    default:
      return { kind: 'interrupted', cause: 'drain' };
  }
}

/**
 * The guardian of the worker ends everything below it once the worker has ended or is made to; a check that ends after that
 * was ended by it, or may have been. The journal has the order, also after a restart, which reads older scopes first.
 */
function isFollowingTheWorker({ store }: Parts, { context }: ScopeSnapshot): boolean {
  const { scopeId, parentScopeId } = context;
  if (parentScopeId === null) return false;
  const first = (id: string, type: string): number => {
    const actor: ActorAddress = { kind: 'executionScope', id };
    return store.journal.page({ actor, type, limit: 1 })[0]?.position ?? Number.POSITIVE_INFINITY;
  };
  const ends = ['workload.statusReceipt', 'guardian.exitReceipt', 'drain.requested', 'coverage.gap', 'boot.epochEnded'];
  const worker = Math.min(...ends.map((type) => first(parentScopeId, type)));
  const own = Math.min(first(scopeId, 'workload.statusReceipt'), first(scopeId, 'guardian.exitReceipt'));
  return own > worker;
}
