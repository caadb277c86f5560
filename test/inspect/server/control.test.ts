/** What a page may change: nothing, unless it was opened for that, and then as the operator would. */
import { describe, expect, it } from 'vitest';
import { type ControlAnswer, routes } from '../../../inspect/server/contract.ts';
import { testDaemon } from '../../support/daemon.ts';
import { openPage } from './support/page.ts';

describe('a page that was opened to look', () => {
  it('changes nothing, also while another one may', async () => {
    const daemon = await testDaemon().start();
    const { goalId, generationId } = await daemon.goal();
    const { runId } = await daemon.exec(goalId, 'sleep 600');
    await openPage(daemon, { control: true });
    const page = await openPage(daemon);
    for (const request of [
      { verb: 'run.stop', requestId: 'r1', runId },
      { verb: 'goal.cancel', requestId: 'r2', goalId },
      { verb: 'worktree.close', requestId: 'r3', generationId },
    ]) {
      const { status, text } = await page.post(routes.control, request);
      expect({ status, code: JSON.parse(text).error.code }).toEqual({ status: 403, code: 'read_only' });
    }
    expect((await daemon.call('runs.show', { id: runId })).state).toBe('bound');
    expect((await daemon.call('goals.show', { id: goalId })).status).not.toBe('cancelled');
  });
});

describe('a page that was opened to act', () => {
  it('stops a run, closes a worktree and cancels a Goal, each once per request id', async () => {
    const daemon = await testDaemon().start();
    const { goalId, generationId } = await daemon.goal();
    const { runId } = await daemon.exec(goalId, 'sleep 600');
    const page = await openPage(daemon, { control: true });
    const stop = { verb: 'run.stop', requestId: 'stop-1', runId };
    for (const _ of [1, 2]) {
      const { status, text } = await page.post(routes.control, stop);
      expect(status).toBe(200);
      expect(JSON.parse(text) as ControlAnswer).toMatchObject({
        verb: 'run.stop',
        requestId: 'stop-1',
        data: { runId },
      });
    }
    await daemon.proved(runId);
    const orders = await daemon.events({ type: 'drain.requested' });
    expect(orders.filter(({ eventId }) => eventId.endsWith(':request:stop-1'))).toHaveLength(1);
    expect(
      (await page.post(routes.control, { verb: 'worktree.close', requestId: 'close-1', generationId })).status,
    ).toBe(200);
    expect((await daemon.call('worktrees.show', { id: generationId })).lifecycle).not.toBe('open');
    expect((await page.post(routes.control, { verb: 'goal.cancel', requestId: 'stop-1', goalId })).status).toBe(409);
    expect((await page.post(routes.control, { verb: 'goal.cancel', requestId: 'cancel-1', goalId })).status).toBe(200);
    expect((await daemon.call('goals.show', { id: goalId })).status).toBe('cancelled');
    expect((await page.post(routes.control, { verb: 'run.stop', requestId: 'stop-2', runId: 'Rnone' })).status).toBe(
      404,
    );
  });
});
