/** Live scopes of the real protocol, and observations that change them: the most frequent durable event there is. */
import type { Host } from '../../actors/host/api.ts';
import { createHost } from '../../actors/host/host.ts';
import type { Draft } from '../../actors/host/outcome.ts';
import { protocol } from '../../machines/protocol.ts';
import type { Clock } from '../../persistence/clock.ts';
import type { Store } from '../../persistence/store.ts';

const producer = { kind: 'daemon', id: 'bench' };
const digest = 'd'.repeat(64);
const bootId = '7d1c0c2e-0000-4000-8000-00000000b007';
const slot = { dev: '64768', ino: '1234567', nonceHash: digest };

export const clock: Clock = {
  now: () => ({ wallMs: Date.now(), monoMs: Math.floor(performance.now()), bootId }),
};

export const hostOver = (store: Store): Host => createHost({ ...protocol, store, clock });

const scope = (id: string, type: string, payload: Record<string, unknown>): Draft => ({
  type,
  actor: { kind: 'executionScope', id },
  producer,
  payload,
});

function identity(pid: number) {
  return {
    evidenceVersion: 1,
    installationId: 'Ibench00000',
    platform: 'linux',
    bootId,
    pid,
    processToken: String(100_000 + pid),
    uid: 1000,
    namespace: 'pid:4026531836,time:4026531834',
    adapterEvidence: String(pid),
  };
}

/** The events that bring one scope to life, in one call. */
export function launched(id: string): Draft[] {
  const requested = {
    scopeId: id,
    runId: `R-${id}`,
    generationId: 'Wbench00000',
    parentScopeId: null,
    kind: 'guardian',
    goalId: 'Gbench00000',
    occurrence: 1,
    nodeId: 'Nbench00000',
    recipeDigest: digest,
    onRootExit: 'terminate',
    graceMs: 2_000,
    budgetMs: 30_000,
    purpose: 'bench',
  };
  return [
    scope(id, 'scope.requested', requested),
    scope(id, 'launch.prepared', { slots: { start: slot, status: slot, exit: slot } }),
    scope(id, 'guardian.attached', { guardian: identity(4_001), workload: identity(4_002), bootId }),
    scope(id, 'launch.releaseCommitted', {}),
  ];
}

/** Ends a launched scope: one that never ran, which is settled and released at once. */
export const abandoned = (id: string): Draft[] => [
  launched(id)[0] as Draft,
  scope(id, 'launch.abandoned', { gate: 'never_opened', reason: 'bench' }),
];

/** The n-th observation, of a scope that has been observed `before` times; always differs from the one before it. */
export function observed(id: string, n: number, before: number): Draft {
  const payload = {
    result: 'alive',
    reason: before % 2 ? 'identity_equal' : 'identity_equal_again',
    contextDigest: digest,
    sampledAt: { monoMs: 1_000 + n, bootId },
  };
  return { ...scope(id, 'guardian.observed', payload), eventId: `go:${id}:1:${n}` };
}
