import { describe, expect, it } from 'vitest';
import { testDaemon } from '../support/daemon.ts';
import { ticked, workerOf, workingDaemon } from './support/workers.ts';

describe('the scheduling worker', () => {
  it('is not there while nothing is configured for it', async () => {
    const daemon = await testDaemon().start();
    expect(await workerOf(daemon)).toMatchObject({ wanted: false, state: 'none', incarnationId: null });
  });

  it('WRK-01 WRK-06 is launched under a guardian, registers and ticks', async () => {
    const daemon = await workingDaemon().start();
    await ticked(daemon);
    const worker = await workerOf(daemon);
    expect(worker).toMatchObject({ wanted: true, state: 'ticking', recovery: { phase: 'idle' } });
    const scope = await daemon.scope(worker.scopeId);
    expect(scope).toMatchObject({ kind: 'effect', holdsSlot: false, assessment: { state: 'live' } });
    expect(scope.workloadPid).toBe(worker.pid);
  });

  it('runs the check of a queued Goal and records the receipt', async () => {
    const daemon = await workingDaemon({ check: 'pwd; echo "$CUSTODY_GOAL" >&2' }).start();
    const { goalId, path } = await daemon.goal();
    const receipt = await daemon.event({ actor: goalId, type: 'receipt.recorded' });
    expect(receipt.payload).toMatchObject({
      kind: 'quality',
      verdict: 'accepted',
      artifactDigests: [expect.any(String), expect.any(String)],
    });
    const [run] = (await daemon.call('runs.list', { goalId })).runs;
    expect(run).toMatchObject({ label: 'check' });
    const goal = await daemon.call('goals.show', { id: goalId });
    expect(goal.status).toBe('plan');
    expect(path).toBeTruthy();
  });
});
