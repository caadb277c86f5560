import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { loseGuardianOf } from '../support/guardianLoss.ts';
import { checkHeldBy, runningCheck } from './support/heldChecks.ts';
import { silenceMs, ticked, workerOf, workingDaemon } from './support/workers.ts';

function damage(daemon: TestDaemon, kind: string): void {
  const database = new Database(join(daemon.home.stateDir, 'custody.db'));
  database.prepare(`UPDATE actors SET snapshot = ' ' || snapshot WHERE kind = ?`).run(kind);
  database.close();
}

describe('OWN-10 a daemon that finds a nested scope lost, and around it a damaged record', () => {
  it.each(['workerIncarnation', 'recoveryFence', 'executionScope', 'run', 'goal', 'worktreeGeneration'])(
    'of kind %s serves everybody else, launches no second worker, and says what is wrong',
    async (kind) => {
      const daemon = await checkHeldBy().start();
      await daemon.goal();
      const { scopeId: check } = await runningCheck(daemon);
      const { incarnationId } = await workerOf(daemon);
      await loseGuardianOf(daemon, check);
      await daemon.event({ actor: check, type: 'guardian.observed' }, ({ payload }) => payload.result === 'absent');
      await daemon.kill('SIGKILL');
      damage(daemon, kind);
      await daemon.start();
      const { goalId } = await daemon.call('goals.add', { title: 'b', repo: daemon.home.repo, request: 'x\n' });
      await daemon.call('worktrees.add', { goalId });
      const { runId } = await daemon.exec(goalId, 'exit 3');
      expect(await daemon.proved(runId)).toMatchObject({ result: { code: 3 } });
      const { health } = await daemon.call('status', {});
      expect(health.state).not.toBe('ok');
      const launched = await daemon.events({ type: 'replacement.launched' });
      expect(launched.map(({ payload }) => payload.incarnationId)).toEqual([incarnationId]);
    },
  );
});

describe('OWN-10 REC-05 a worker whose scope has a damaged record', () => {
  it('is not replaced, and health says why', async () => {
    const daemon = await workingDaemon({ env: { CUSTODY_SILENCE_MS: silenceMs } }).start();
    await ticked(daemon);
    const { incarnationId, scopeId } = await workerOf(daemon);
    await daemon.kill('SIGKILL');
    damage(daemon, 'executionScope');
    await daemon.start();
    // It cannot be recognised any more, so that it counts as silent.
    await daemon.event({ type: 'recovery.failed' });
    const { worker, health } = await daemon.call('status', {});
    expect(worker.recovery).toMatchObject({
      phase: 'refused',
      evidence: [{ phase: 'stoppingOld', reason: 'record_corrupt' }],
    });
    expect(health.reasons).toContainEqual(expect.objectContaining({ code: 'ownership_unverified', scopeId }));
    expect(health.reasons).toContainEqual(expect.objectContaining({ code: 'recovery_refused' }));
    const launched = await daemon.events({ type: 'replacement.launched' });
    expect(launched.map(({ payload }) => payload.incarnationId)).toEqual([incarnationId]);
  });
});
