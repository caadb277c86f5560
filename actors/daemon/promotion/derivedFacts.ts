/** What is known here of a run, for comparing with what others say of it (PROMO-03). */
import type { RunSnapshot } from '../../../machines/run.ts';
import type { HostedEnvelope } from '../../host/outcome.ts';
import type { DerivedFacts } from '../../promotion/comparison.ts';
import { intact } from '../../runtime/actorAccess.ts';
import type { Runtime } from '../../runtime/runtime.ts';

type Parts = Pick<Runtime, 'host' | 'store'>;

export interface KnownRun extends DerivedFacts {
  /** A guardian, which neither system is, has left the status of its root. */
  readonly hasReceipt: boolean;
}

export function factsOf(parts: Parts, run: RunSnapshot): KnownRun {
  const { end, rootScopeId } = run.context;
  const scope = rootScopeId === null ? undefined : intact(parts.host, 'executionScope', rootScopeId);
  const status = scope === undefined || scope === 'corrupt' ? null : scope.context.status;
  return {
    state: stateOf(run),
    how: status === null ? null : status.how === 'exited' && status.code === 0 ? 'succeeded' : 'failed',
    endedMs: end === null ? null : recordedMs(parts, run.context.runId, end.eventId),
    aliveUntilMs: aliveUntil(parts, run),
    hasReceipt: end?.evidence === 'status_receipt' && status !== null,
  };
}

function stateOf(run: RunSnapshot): DerivedFacts['state'] {
  if (run.matches({ lifecycle: 'bound' })) return 'running';
  if (run.matches({ lifecycle: 'ended' })) return 'over';
  return run.matches({ lifecycle: 'cancelled' }) ? 'never_ran' : 'unresolved';
}

/** A managed run has a guardian, which says when it ends; of others it is known up to the last look. */
function aliveUntil({ store }: Parts, run: RunSnapshot): number | null {
  if (run.context.mode === 'managed') return Number.POSITIVE_INFINITY;
  const row = store.actors.read({ kind: 'run', id: run.context.runId });
  const look = row === undefined ? undefined : store.freshness.of(row.key);
  return look?.result === 'alive' ? look.wallMs : null;
}

function recordedMs({ host, store }: Parts, runId: string, eventId: string): number | null {
  const position = host.applied(eventId).find(({ actor }) => actor.kind === 'run' && actor.id === runId)?.position;
  if (position === undefined) return null;
  const [entry] = store.journal.page({ after: position - 1, limit: 1 });
  return entry?.intact && entry.position === position ? (entry.envelope as HostedEnvelope).at.wallMs : null;
}
