/** What becomes of measurements when the process that made them is killed, or the store takes nothing (METR-01). */
import { expect, it, onTestFinished } from 'vitest';
import { createHost } from '../../actors/host/host.ts';
import { createMetrics } from '../../actors/metrics/metrics.ts';
import { createLinuxAdapter } from '../../actors/observe/linux/adapter.ts';
import { createSystemClock } from '../../actors/observe/linux/clock.ts';
import { draft } from '../../actors/runtime/submission.ts';
import { protocol } from '../../machines/protocol.ts';
import type { Store } from '../../persistence/store.ts';
import { newStore, opened } from '../persistence/support/temporaryStore.ts';

function measuring(store: Store) {
  const clock = createSystemClock();
  const adapter = createLinuxAdapter({ installationId: store.installationId as never });
  const host = createHost({ ...protocol, store, clock });
  onTestFinished(() => host.close());
  const metrics = createMetrics({ host, store, clock, adapter, spoolDir: '/nonexistent/spool' });
  const find = (name: string) => metrics.report({ sinceMs: 0 }).series.find((one) => one.name === name)!.measured;
  return { host, metrics, find };
}

async function register({ host }: ReturnType<typeof measuring>, n: number): Promise<void> {
  const to = ['worktreeGeneration', `W${n}`] as never;
  const fsIdentity = { dev: '1', ino: String(n), gitdir: '/srv/.git', born: null };
  const about = { path: `/srv/${n}`, fsIdentity, origin: 'legacy' as const, controller: 'legacy', repoId: null };
  const payload = { generationId: `W${n}` as never, ...about, goalId: null, branch: null, baseCommit: null };
  expect(await host.submit([draft('generation.registered', { to, payload, by: 'test' })])).toMatchObject([
    { outcome: 'changed' },
  ]);
}

it('growth of the journal outlives a process that dies before it has written anything down; latencies do not', async () => {
  const first = newStore({ clock: createSystemClock() });
  const killed = measuring(first);
  for (const n of [1, 2, 3]) await register(killed, n);
  first.close();
  const next = measuring(opened({ stateDir: first.stateDir, clock: createSystemClock() }));
  expect(next.find('journal_growth')).toEqual({ kind: 'counter', value: 3 });
  expect(next.find('commit_latency')).toMatchObject({ count: 0, p95: null });
  // And once only.
  await register(next, 4);
  expect(next.find('journal_growth')).toEqual({ kind: 'counter', value: 4 });
  expect(next.find('commit_latency')).toMatchObject({ count: 1 });
  expect(next.find('commit_latency')).toMatchObject({ count: 1 });
});

it('passes and recoveries wait for a store that takes nothing, the newest of them', () => {
  const store = newStore({ clock: createSystemClock() });
  const { metrics, find } = measuring(store);
  const pass = { elapsedUs: 5_000, reads: 3, lookedAt: 1, deferred: 0, outcomes: { 'unknown:hidden': 2 } };
  for (let n = 1; n <= 1_005; n += 1) metrics.recorder.pass({ wallMs: Date.now(), ...pass });
  metrics.recorder.recovered('daemon', 12);
  const written = measuring({
    ...store,
    writeUncounted() {
      throw new Error('stop');
    },
  });
  written.metrics.recorder.recovered('daemon', 13);
  expect(() => written.metrics.recorder.record()).toThrow('stop');
  expect(written.metrics.recorder.isWaiting).toBe(true);
  expect(find('pass_duration')).toEqual({ kind: 'distribution', count: 1_000, p50: 5, p95: 5, max: 5 });
  expect(find('unknowns')).toEqual({ kind: 'counter', value: 2_000 });
  expect(find('recovery_time')).toMatchObject({ count: 1, p50: 12 });
  expect(metrics.recorder.isWaiting).toBe(false);
  expect(metrics.exposition()).toContain('custody_unknowns_total{reason="hidden"} 2000\n');
});
