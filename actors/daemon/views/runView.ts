/** A run as the command line shows it: launcher facts, observations, derived state and hypotheses stay apart (OBS-10). */
import { assessOwnership } from '../../../machines/assessment.ts';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import type { RunSnapshot } from '../../../machines/run.ts';
import { launcherNameOf } from '../../ingest/namedRuns.ts';
import { ScopeReceipts } from '../../observe/receipts/scope.ts';
import { committed, intact, required } from '../../runtime/actorAccess.ts';
import type { ReceiptView, RunDetailView, RunView } from '../api/views.ts';
import type { DaemonContext } from '../context.ts';
import type { Membership } from '../guardianTalk.ts';
import { expectationOf } from '../services/receiptService.ts';
import { captureViews } from './captureView.ts';
import { scopeSummary, statePath } from './scopeView.ts';

export function rootScopeOf({ host }: Pick<DaemonContext, 'host'>, run: RunSnapshot): ScopeSnapshot | undefined {
  const { rootScopeId } = run.context;
  return rootScopeId === null ? undefined : committed(host, 'executionScope', rootScopeId);
}

type RunFacts = Omit<RunView, 'sessionId'>;

export function runView(
  context: Pick<DaemonContext, 'host' | 'store'>,
  runId: string,
  membership?: Membership,
): RunView {
  return withSessions(context, [runFacts(context, runId, membership)])[0] as RunView;
}

/** Adds the session of each run that has a terminal, with one question for all of them. */
export function withSessions({ store }: Pick<DaemonContext, 'store'>, runs: readonly RunFacts[]): readonly RunView[] {
  const ids = runs.map(({ runId }) => runId);
  const sessions = store.links.idsOf({ kind: 'ptySession', name: 'runId' }, ids);
  return runs.map((run) => ({ ...run, sessionId: sessions.get(run.runId) ?? null }));
}

export function runFacts({ host }: Pick<DaemonContext, 'host'>, runId: string, membership?: Membership): RunFacts {
  const run = required(host, 'run', runId);
  const { label, goalRef, generationId, rootScopeId, mode, end } = run.context;
  // A damaged record of the scope is unverified and hides nothing of the run (OWN-10).
  const recorded = rootScopeId === null ? undefined : intact(host, 'executionScope', rootScopeId);
  const scope = recorded === 'corrupt' ? undefined : recorded;
  const status = scope?.context.status;
  return {
    runId,
    launcher: launcherNameOf(run.context),
    label,
    goalId: goalRef?.goalId ?? null,
    generationId,
    scopeId: rootScopeId,
    epoch: epochOf(host, run),
    mode,
    state: statePath(run.value.lifecycle),
    result: status ? { how: status.how, code: status.code, signal: status.signal, errno: status.errno } : null,
    end,
    scope: recorded ? assessOwnership(recorded) : null,
    guardianPid: scope?.context.guardian?.pid ?? null,
    workloadPid: scope?.context.workload?.pid ?? null,
    summary: scope ? scopeSummary(scope, membership) : statePath(run.value.lifecycle),
  };
}

function epochOf(host: DaemonContext['host'], { context }: RunSnapshot): number | null {
  const generation =
    context.generationId === null ? undefined : intact(host, 'worktreeGeneration', context.generationId);
  return generation === 'corrupt' ? null : (generation?.context.admitted[context.runId]?.epoch ?? null);
}

export async function runDetailView(context: DaemonContext, runId: string): Promise<RunDetailView> {
  const run = required(context.host, 'run', runId);
  const scope = rootScopeOf(context, run);
  const isOpen = scope !== undefined && !scope.hasTag('capacityReleased');
  const membership = isOpen ? await context.guardians.members(scope.context.scopeId) : undefined;
  const { identity, lastObservation, lastConfirmed, exitReport, unresolvedReason, end } = run.context;
  return {
    ...runView(context, runId, membership),
    launcherFacts: {
      goalRef: run.context.goalRef,
      label: run.context.label,
      retryOf: run.context.retryOf,
      identity,
      exitReport,
      recorded: recordedElsewhere(context, runId),
    },
    observations: {
      last: lastObservation,
      lastConfirmed,
      guardian: scope?.context.guardianLast ?? null,
      members: membership?.members ?? null,
    },
    derived: {
      state: statePath(run.value.lifecycle),
      end,
      unresolvedReason,
      scope: scope ? assessOwnership(scope) : null,
      proof: scope?.context.proof ?? null,
      version: context.host.versionOf('run', runId) ?? null,
    },
    hypothetical: { replaceable: scope === undefined || !isOpen, blockedBy: isOpen ? scope.context.scopeId : null },
    capture: scope ? await captureViews(context, scope, membership) : [],
    receipts: scope ? receiptViews(context, scope) : [],
  };
}

/** What another tool has on record of it; times are that tool's, for people. */
function recordedElsewhere({ store }: DaemonContext, runId: string) {
  const row = store.legacyRecords.ofActor(runId);
  if (row === undefined) return null;
  const { tool, name, startedWallMs, endedWallMs } = row;
  return { tool, name, startedWallMs, endedWallMs };
}

/** In their order, each checked against those before it: what is on the disk may be ahead of what was committed. */
export function receiptViews(context: DaemonContext, scope: ScopeSnapshot): readonly ReceiptView[] {
  const expected = expectationOf(context, scope);
  if (expected === undefined) return [];
  const { authentic, refused } = new ScopeReceipts(expected).look();
  return (['start', 'status', 'exit'] as const).map((kind) => {
    const reading = authentic.find(({ receipt }) => receipt.kind === kind);
    if (reading !== undefined) {
      const { nonce: _, ...receipt } = reading.receipt;
      return { kind, status: 'authentic', digest: reading.bytesDigest, receipt };
    }
    const refusal = refused.find((one) => one.kind === kind);
    return refusal ? { kind, status: 'not_authentic', reason: refusal.reason } : { kind, status: 'absent' };
  });
}
