/** What is recorded of a check that came to no verdict; an occurrence that is not current any more takes nothing of it. */
import type { RunSnapshot } from '../../../machines/run.ts';
import type { Draft } from '../../host/outcome.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { draft } from '../../runtime/submission.ts';
import type { CheckOutcome } from './checkOutcome.ts';
import { basisOf } from './checkPlan.ts';

const by = 'worker';

export function settlementOf(
  { store }: Pick<Runtime, 'store'>,
  run: RunSnapshot['context'],
  outcome: CheckOutcome,
): readonly Draft[] {
  const basis = basisOf(run);
  const { rootScopeId, runId } = run;
  if (basis === undefined || rootScopeId === null) return [];
  const { goalId, occurrence } = basis;
  const to = ['goal', goalId] as const;
  switch (outcome.kind) {
    case 'interrupted': {
      const payload = { goalId, occurrence, scopeId: rootScopeId, cause: outcome.cause };
      return [draft('execution.interrupted', { to, payload, by })];
    }
    case 'stopped': {
      const payload = { stopRequestId: outcome.requestId, endEvidence: runId };
      return [draft('stop.settled', { to, payload, by, basis })];
    }
    case 'unfinished': {
      const { reasonCode } = outcome;
      const failureClass = reasonCode === 'check_not_started' ? ('preparation' as const) : ('infrastructure' as const);
      const payload = { failureClass, reasonCode, evidenceRef: runId };
      const eventId = `${store.installationId}:unfinished:${runId}`;
      return [draft('step.failed', { to, payload, by, basis, eventId })];
    }
    default:
      return [];
  }
}
