/** What happens to a scope of bench/host/scopes.ts until its receipts prove that nobody is left. */
import type { Draft } from '../../actors/host/outcome.ts';

const bootId = '7d1c0c2e-0000-4000-8000-00000000b007';
const digest = 'd'.repeat(64);
const named = (pid: number) => ({ pid, start: String(100_000 + pid), pidfs: String(pid) });

const draft = (id: string, type: string, payload: Record<string, unknown>): Draft => ({
  type,
  actor: { kind: 'executionScope', id },
  producer: { kind: 'daemon', id: 'bench' },
  payload,
});

/** Each differs from the one before it, as only such ones are recorded. */
export const observedOften = (id: string, count: number): Draft[] =>
  Array.from({ length: count }, (_, n) => {
    const payload = {
      result: 'alive',
      reason: n % 2 ? 'identity_equal' : 'identity_equal_again',
      contextDigest: digest,
      sampledAt: { monoMs: 1_000 + n, bootId },
    };
    return { ...draft(id, 'guardian.observed', payload), eventId: `go:${id}:1.1.${n}` };
  });

export function ended(scopeId: string): Draft[] {
  const receipt = {
    dev: '64768',
    ino: '1234567',
    guardian: named(4_001),
    workload: named(4_002),
    bootId,
    receiptText: JSON.stringify({ scopeId, note: 'x'.repeat(600) }),
    authentic: true,
    ...{ how: 'exited', code: 0, signal: null, errno: null, waitStatus: 0 },
  };
  const counts = { complete: true, reaped: 3, adopted: 2, terminated: false, lostNested: 0 };
  return [
    draft(scopeId, 'workload.statusReceipt', { scopeId, ...receipt, bytesDigest: digest }),
    draft(scopeId, 'guardian.exitReceipt', { ...receipt, ...counts, bytesDigest: digest }),
  ];
}
