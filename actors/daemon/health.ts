/** The one health value (REC-08): status, processes and doctor show views of this and compute nothing of their own. */
import { assessOwnership } from '../../machines/assessment.ts';
import type { StoreError } from '../../persistence/errors.ts';
import { everyActor } from '../runtime/actorAccess.ts';
import type { FindingView, HealthView } from './api/views.ts';
import type { DaemonContext } from './context.ts';
import { silence } from './guardianTalk.ts';

type Parts = Pick<DaemonContext, 'host' | 'findings' | 'storeFailure'>;

const silentCodes: ReadonlySet<string> = new Set([silence, 'guardian_stopped']);

export function healthOf({ host, findings, storeFailure }: Parts): HealthView {
  const unverified: FindingView[] = [];
  for (const { id, snapshot } of everyActor(host, 'executionScope', { released: false })) {
    const assessment = assessOwnership(snapshot);
    if (assessment.state !== 'unverified') continue;
    const context = snapshot === 'corrupt' ? undefined : snapshot.context;
    unverified.push({
      code: 'ownership_unverified',
      scopeId: id,
      ...(context?.runId ? { runId: context.runId } : {}),
      ...(context?.workload ? { pid: context.workload.pid } : {}),
      detail: `not proved to be gone (${assessment.certainty}): ${assessment.reason}`,
      next: ['custody processes', 'custody doctor'],
    });
  }
  const others = [...storeReasons(storeFailure()), ...findings.list()];
  const reasons = [...unverified, ...others];
  const isSilent = others.some(({ code }) => silentCodes.has(code));
  const state =
    unverified.length > 0 ? 'ownership_unverified' : isSilent ? 'unresponsive' : others.length > 0 ? 'degraded' : 'ok';
  return { state, reasons, next: [...new Set(reasons.flatMap(({ next }) => next))] };
}

const storeReasons = (failure: StoreError | undefined): readonly FindingView[] =>
  failure === undefined ? [] : [{ code: failure.code, detail: failure.message, next: failure.next }];
