/**
 * What tells situations apart, of every kind of actor: whatever a guard or an invariant asks about. What is only shown to
 * people, and what only counts, is left out; two snapshots with the same view are taken to behave alike.
 */
import type { ScopeContext } from '../../machines/executionScopeParts.ts';
import type { SessionContext } from '../../machines/ptySessionContext.ts';
import type { FenceContext } from '../../machines/recoveryFenceParts.ts';
import type { RunContext } from '../../machines/run.ts';
import type { WorkerContext } from '../../machines/workerIncarnationContext.ts';
import type { GenerationContext } from '../../machines/worktreeGenerationBlockers.ts';

const has = (value: unknown): boolean => value !== null;

export const views = {
  executionScope: (scope: ScopeContext) => [
    [scope.kind, scope.controller, scope.released, scope.slots !== null, scope.guardian?.pid ?? 0, scope.bootId],
    [scope.guardianLast?.result ?? '', scope.guardianLast?.reason === 'namespace_mismatch'],
    [...scope.gaps].sort(),
    [scope.witnesses, scope.witnessConflicts.length > 0, scope.residentsOnly],
    [scope.status?.how ?? '', scope.proof, scope.openSideEffects, scope.assumed?.because ?? ''],
  ],
  run: (run: RunContext) => [
    [run.identity?.pid ?? 0, run.identityVersion, run.generationId, run.label, run.gaps],
    [run.end?.evidence ?? '', run.lastConfirmed?.result ?? ''],
  ],
  worktreeGeneration: (generation: GenerationContext) => [
    [generation.controller, generation.sealEpoch, generation.admitted, generation.noted, generation.coverageGaps.open],
    [generation.coverageGaps.recorded > 0, generation.coveredGuardians, has(generation.noWritersContract)],
    [has(generation.retirement), generation.handoff?.to ?? '', generation.evidence],
    [generation.notedBeyond, generation.notedSettled],
  ],
  ptySession: (session: SessionContext) => [
    [session.activity.seq, session.structured, session.firstFailure, session.faults.map(({ cause }) => cause).sort()],
    [session.status?.how ?? '', session.capture?.fault ?? '', session.capture?.eof ?? false],
  ],
  workerIncarnation: (worker: WorkerContext) => [
    [has(worker.process), worker.targetId, worker.tick.seq, worker.since.monoMs, has(worker.reason)],
  ],
  recoveryFence: (fence: FenceContext) => [fence.old, fence.replacement],
} as const;
