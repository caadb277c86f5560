/** Every event of an execution scope in its good and its bent variants; the facts say what is bent. */
import type { Payload } from '../../../machines/events/catalogue.ts';
import {
  boot,
  digestOf,
  exitReceipt,
  forgeries,
  guardian,
  laterBoot,
  sampledAt,
  slots,
  statusReceipt,
  workload,
} from './evidence.ts';
import type { Sample } from './table.ts';

export const scopeInput = (rest: Partial<Payload<'scope.requested'>> = {}): Payload<'scope.requested'> =>
  ({
    scopeId: 'S1',
    runId: 'R1',
    generationId: 'W1',
    parentScopeId: null,
    kind: 'guardian',
    goalId: 'G1',
    occurrence: 1,
    nodeId: 'N1',
    recipeDigest: digestOf('c'),
    onRootExit: 'terminate',
    graceMs: 2_000,
    budgetMs: 5_000,
    purpose: null,
    ...rest,
  }) as Payload<'scope.requested'>;

const sample = (type: string, payload: object, ...facts: string[]): Sample => ({ type, facts, payload: () => payload });

const launchSamples: readonly Sample[] = [
  sample('launch.prepared', { slots }),
  sample('launch.notStarted', { errno: 'ENOENT', phase: 'spawn' }),
  sample('launch.abandoned', { gate: 'never_opened', reason: 'drained' }),
  sample('guardian.attached', { guardian, workload, bootId: boot }),
  sample('launch.releaseCommitted', {}),
  sample('launch.releaseUncertain', { errno: 'EPIPE' }),
  sample('scope.registeredExternally', { reason: 'legacy' }),
];

const receiptSamples: readonly Sample[] = [
  sample('workload.statusReceipt', statusReceipt('S1')),
  sample('workload.statusReceipt', statusReceipt('S1', { ino: slots.exit.ino }), 'forged'),
  ...Object.values(forgeries).map((bent) => sample('workload.statusReceipt', statusReceipt('S1', bent), 'forged')),
  sample('guardian.exitReceipt', exitReceipt()),
  sample('guardian.exitReceipt', exitReceipt({ complete: false }), 'partial'),
  sample('guardian.exitReceipt', exitReceipt({ ino: slots.status.ino }), 'forged'),
  ...Object.values(forgeries).map((bent) => sample('guardian.exitReceipt', exitReceipt(bent), 'forged')),
];

export const enclosingChecks = {
  enclosingComplete: true,
  enclosingOriginal: true,
  launcherRelation: true,
  isolatedLaunch: true,
  witnessesContained: true,
  inferred: false,
};

const enclosing = (checks: object, survivors = 0) => ({
  enclosingScopeId: 'S0',
  receiptDigest: digestOf('d'),
  checks: { ...enclosingChecks, ...checks },
  survivors,
});

const otherProofSamples: readonly Sample[] = [
  sample('boot.epochEnded', { currentBootId: laterBoot, uniform: true }),
  sample('boot.epochEnded', { currentBootId: laterBoot, uniform: false }, 'mixed boots'),
  sample('boot.epochEnded', { currentBootId: boot, uniform: true }, 'same boot'),
  sample('enclosing.receiptAccepted', enclosing({})),
  ...Object.entries(enclosingChecks).map(([check, good]) =>
    sample('enclosing.receiptAccepted', enclosing({ [check]: !good }), 'not contained'),
  ),
  sample('enclosing.receiptAccepted', enclosing({}, 1), 'survivors'),
];

const observed = (result: string) => ({ result, reason: 'sampled', contextDigest: '', sampledAt });

const assumption = (because: string) => ({ requestId: 'q', actor: 'operator', because, atWallMs: 1, observed: [] });

const observationSamples: readonly Sample[] = [
  ...['alive', 'absent', 'unknown'].map((result) => sample('guardian.observed', observed(result), result)),
  sample('coverage.gap', { reason: 'guardian_gone' }),
  sample('guardian.observed', { ...observed('unknown'), reason: 'namespace_mismatch' }, 'unknown'),
  sample('coverage.gap', { reason: 'handshake_lost' }),
  sample('end.assumed', assumption('the machine was unplugged')),
  sample('end.assumed', assumption('somebody else says so too')),
  sample('witness.merged', { witnesses: { 300: '9000' }, basisVersion: 1 }),
  sample('witness.merged', { witnesses: { 100: 'another' }, basisVersion: 1 }),
];

export const yieldingCauses = ['superseded', 'cancelled', 'reassigned'] as const;
export const firmCauses = [
  'completed',
  'natural',
  'capture_fault',
  'deadline',
  'stop',
  'recovery',
  'shutdown',
] as const;

const drainSamples: readonly Sample[] = [
  sample('residents.observed', { alone: true }),
  sample('residents.observed', { alone: false }),
  sample('sideEffect.committed', { effectId: 'push' }),
  sample('sideEffect.done', { effectId: 'push' }),
  ...firmCauses.map((cause) => sample('drain.requested', { cause, requestId: 'q' })),
  ...yieldingCauses.map((cause) => sample('drain.requested', { cause, requestId: 'q' }, 'yielding')),
  sample('drain.quiesced', { members: {}, total: 0, scans: 2 }),
  sample('drain.signalled', { signalled: 1, skippedGuardians: 0 }),
  sample('drain.budgetExhausted', { elapsedMs: 5_000, survivors: 1 }),
  sample('drain.inspectionFailed', { reasonCode: 'proc_hidden', resumed: 1 }),
];

/** Facts of other actors and of time, which a scope has no use for (OWN-04, TIME-02). */
const foreignSamples: readonly Sample[] = [
  sample('deadline.reached', { deadlineId: 'd', monoMs: 9_999, bootId: boot }),
  sample('exit.reported', { exitCode: 0, signal: null, reporter: 'launcher' }),
  sample('process.observed', { result: 'ended', reason: 'absent', stable: true, sampledAt, contextDigest: '' }),
  sample('scope.exitProved', { scopeId: 'S1', proofKind: 'own_receipt', proofEventId: 'e' }),
];

export const scopeSamples: readonly Sample[] = [
  ...launchSamples,
  ...receiptSamples,
  ...otherProofSamples,
  ...observationSamples,
  ...drainSamples,
  ...foreignSamples,
];
