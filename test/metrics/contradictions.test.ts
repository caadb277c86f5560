/** Which predictions count as contradicted, and which do not (METR-01, WT-06). */
import { expect, it, onTestFinished } from 'vitest';
import { createHost } from '../../actors/host/host.ts';
import type { Draft } from '../../actors/host/outcome.ts';
import { createMetrics } from '../../actors/metrics/metrics.ts';
import { createLinuxAdapter } from '../../actors/observe/linux/adapter.ts';
import { createSystemClock } from '../../actors/observe/linux/clock.ts';
import { draft } from '../../actors/runtime/submission.ts';
import { identityDigest, type ProcessIdentity } from '../../machines/identity.ts';
import type { GenerationId, RunId } from '../../machines/ids.ts';
import { protocol } from '../../machines/protocol.ts';
import { newStore } from '../persistence/support/temporaryStore.ts';

const by = 'test';

function recording() {
  const store = newStore();
  const clock = createSystemClock();
  const adapter = createLinuxAdapter({ installationId: store.installationId as never });
  const host = createHost({ ...protocol, store, clock });
  onTestFinished(() => host.close());
  const metrics = createMetrics({ host, store, clock, adapter, spoolDir: '/nonexistent/spool' });
  let n = 0;
  async function commit(...drafts: readonly Draft[]): Promise<void> {
    expect((await host.submit(drafts)).map(({ outcome }) => outcome)).toEqual(drafts.map(() => 'changed'));
  }
  async function unsafe(): Promise<number | null> {
    const { series } = metrics.report({ sinceMs: 0 });
    const [total] = /^custody_predictions_would_be_unsafe_total (\d+)$/m.exec(metrics.exposition())!.slice(1);
    const { measured } = series.find(({ name }) => name === 'predictions_would_be_unsafe')!;
    const value = 'value' in measured ? measured.value : null;
    expect(Number(total)).toBe(value ?? 0);
    return value;
  }
  return {
    unsafe,
    /** Of a worktree that somebody else controls. */
    async worktree(): Promise<GenerationId> {
      n += 1;
      const generationId = `Wtheirs${n}` as GenerationId;
      const fsIdentity = { dev: '1', ino: String(n), gitdir: '/srv/.git', born: null };
      const about = { origin: 'legacy' as const, controller: 'legacy', repoId: null, goalId: null, branch: null };
      const payload = { generationId, path: `/srv/${n}`, fsIdentity, ...about, baseCommit: null };
      await commit(draft('generation.registered', { to: ['worktreeGeneration', generationId], payload, by }));
      return generationId;
    },
    async predict(generationId: GenerationId, eligible: boolean): Promise<void> {
      const to = ['worktreeGeneration', generationId] as const;
      const blockers = eligible ? [] : [{ code: 'noted_run', evidenceIds: ['R1'] }];
      n += 1;
      await commit(draft('prediction.recorded', { to, payload: { eligible, blockers }, by, eventId: `pred:${n}` }));
    },
    async run(generationId: GenerationId, identity: ProcessIdentity): Promise<void> {
      n += 1;
      const runId = `Rtheirs${n}` as RunId;
      const to = ['run', runId] as const;
      const reserved = { runId, generationId, goalRef: null, mode: 'observe' as const, rootScopeId: null, label: null };
      const bound = { identity, identityDigest: identityDigest(identity), verified: true, scopeId: null };
      await commit(
        draft('run.reserved', { to, payload: { ...reserved, retryOf: null, origin: 'observed', gaps: [] }, by }),
        draft('run.noted', { to: ['worktreeGeneration', generationId], payload: { runId, origin: 'observed' }, by }),
        draft('identity.bound', { to, payload: { ...bound, source: 'entrypoint' }, by }),
      );
    },
    async gap(generationId: GenerationId, fromWallMs: number): Promise<void> {
      n += 1;
      const window = { from: fromWallMs, to: fromWallMs + 1 };
      const payload = { gapId: `gap-${n}`, producer: 'shell', kind: 'note_lost', window, count: 1 };
      await commit(draft('coverage.gapRecorded', { to: ['worktreeGeneration', generationId], payload, by }));
    },
    /** This very process, and one that begins hours later. */
    here: adapter.capture(process.pid),
    later: {
      ...adapter.capture(process.pid),
      processToken: String(Number(adapter.capture(process.pid).processToken) + 9e6),
    },
  };
}

it('counts "reclaimable" once when a run of before is told of, or a gap of before is found', async () => {
  const { unsafe, worktree, predict, run, gap, here } = recording();
  expect(await unsafe()).toBeNull();
  const [one, two] = [await worktree(), await worktree()];
  await predict(one, true);
  await predict(two, true);
  expect(await unsafe()).toBe(0);
  await run(one, here);
  expect(await unsafe()).toBe(1);
  await gap(two, Date.now() - 60_000);
  expect(await unsafe()).toBe(2);
  await gap(one, Date.now() - 60_000);
  await run(two, here);
  expect(await unsafe()).toBe(2);
});

it('does not count what began afterwards, what was known before, other worktrees, and "protected"', async () => {
  const { unsafe, worktree, predict, run, gap, here, later } = recording();
  const [one, two, three] = [await worktree(), await worktree(), await worktree()];
  await run(one, here);
  await gap(one, Date.now() - 60_000);
  await predict(one, true);
  await predict(two, false);
  await predict(three, true);
  await run(one, later);
  await run(one, { ...here, bootId: '00000000-0000-4000-8000-000000000001' });
  await gap(one, Date.now() + 3_600_000);
  await run(two, here);
  await gap(two, Date.now() - 60_000);
  expect(await unsafe()).toBe(0);
  // A look that finds something else contradicts nothing: the world may have changed.
  await predict(one, false);
  expect(await unsafe()).toBe(0);
});
