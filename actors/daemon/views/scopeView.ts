/** An execution scope in words and fields, from its committed snapshot alone. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { assessOwnership, holdsSlot, isLeftToResidents } from '../../../machines/assessment.ts';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import type { ScopeView } from '../api/views.ts';
import type { DaemonContext } from '../context.ts';
import { type Membership, silence } from '../guardianTalk.ts';

/** One spelling for a nested state value: `unverified.gap`. */
export function statePath(value: unknown): string {
  if (typeof value === 'string') return value;
  const [entry] = Object.entries(value as Record<string, unknown>);
  return entry ? `${entry[0]}.${statePath(entry[1])}` : '';
}

export function scopeView(context: DaemonContext, scope: ScopeSnapshot, membership?: Membership): ScopeView {
  const { scopeId, kind, purpose, parentScopeId, delegators, runId, generationId, goalId, guardian, workload } =
    scope.context;
  const isOver = scope.hasTag('capacityReleased');
  const published = (name: string) => existsSync(join(context.places.scopesDir, scopeId, `${name}.json`));
  return {
    scopeId,
    kind,
    purpose,
    parentScopeId,
    runId,
    generationId,
    goalId,
    assessment: assessOwnership(scope, context.pendingLaunches.get(scopeId) !== undefined),
    coverage: statePath(scope.value.coverage),
    workload: statePath(scope.value.workload),
    termination: statePath(scope.value.termination),
    summary: scopeSummary(scope, membership),
    holdsSlot: holdsSlot(scope),
    guardianPid: guardian?.pid ?? null,
    workloadPid: workload?.pid ?? null,
    unresponsiveSince: context.findings.since(scopeId, silence) ?? context.findings.since(scopeId, 'guardian_stopped'),
    delegators,
    members: isOver ? [] : (membership?.members ?? null),
    membersTotal: isOver ? 0 : (membership?.total ?? null),
    receipts: { start: published('start'), status: published('status'), exit: published('exit') },
  };
}

const proofWords: Readonly<Record<string, string>> = {
  own_receipt: 'its own exit receipt: the kernel said that no process remains',
  enclosing_receipt: 'the exit receipt of the scope around it',
  boot_epoch: 'the machine was restarted since',
  never_launched: 'its gate never opened',
};

export function scopeSummary(scope: ScopeSnapshot, membership?: Membership): string {
  const assessment = assessOwnership(scope);
  if (assessment.state === 'exited') return `proved: ${proofWords[assessment.proof]}`;
  const stalled = scope.matches({ termination: 'stalled' }) ? '; its end stalled' : '';
  if (assessment.state === 'unverified' && assessment.assumed)
    return `assumed to be gone by ${assessment.assumed.by}, not proved: ${assessment.assumed.because}`;
  if (assessment.state === 'unverified') return `not proved (${assessment.certainty}): ${assessment.reason}${stalled}`;
  const holder = membership?.members.find(({ state }) => state !== 'Z');
  const held = holder ? `; held open by pid ${holder.pid}${holder.name ? ` (${holder.name})` : ''}` : '';
  if (!scope.matches({ termination: 'idle' })) return `ending: ${statePath(scope.value.termination)}${held}`;
  const { residents } = scope.context;
  if (isLeftToResidents(scope)) return `root ended, left to residents: ${residents.map(({ name }) => name).join(', ')}`;
  if (scope.matches({ workload: 'finished' })) return `root ended, tree not drained${held}`;
  return scope.matches({ workload: 'running' }) ? 'running' : 'waiting behind its gate';
}
