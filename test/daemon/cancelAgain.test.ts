import { describe, expect, it } from 'vitest';
import { testDaemon } from '../support/daemon.ts';
import { patienceMs } from '../support/patience.ts';

describe('D10, STOP-04, STOP-08: cancelling what is cancelled', () => {
  it('changes nothing about the Goal, asks again for the end of what is left, and is no error', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const run = await daemon.exec(goalId, 'exec sleep 600');
    const first = await daemon.call('goals.cancel', { id: goalId, waitMs: patienceMs });
    expect(first).toMatchObject({ status: 'cancelled', outcome: 'changed' });
    await daemon.proved(run.runId);
    const second = await daemon.call('goals.cancel', { id: goalId, waitMs: patienceMs });
    expect(second).toMatchObject({ status: 'cancelled', outcome: 'noop', revision: first.revision, scopes: [] });
  });
});
