/** SHUT-09: the ends of a tree and of a tree inside it, here the scheduling worker and a check that it runs. */
import { describe, expect, it } from 'vitest';
import { turns } from '../guardian/support/fifo.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { checksOf, workerOf, workingDaemon } from './support/workers.ts';

/** A worker whose check ignores SIGTERM, with both scopes. */
async function nested() {
  const daemon = workingDaemon();
  const turn = turns(daemon.home.dir, 'check');
  const check = `trap "" TERM; echo $$ > "${turn.paths[0]}"; while :; do sleep 600; done`;
  Object.assign(daemon.home.env, { CUSTODY_CHECKS: checksOf(check) });
  await daemon.start();
  const { goalId } = await daemon.goal();
  await turn.ready();
  const [run] = (await daemon.call('runs.list', { goalId })).runs;
  const { scopeId: outer } = await workerOf(daemon);
  return { daemon, inner: { runId: run!.runId, scopeId: run!.scopeId! }, outer: outer! };
}

const positions = async (daemon: TestDaemon, actor: string, type: string): Promise<number[]> =>
  (await daemon.events({ actor, type })).map(({ position }) => position);

/** The worker is not even asked to go before the end of its check is proved. */
async function expectInOrder(daemon: TestDaemon, inner: string, outer: string): Promise<void> {
  await daemon.event({ actor: outer, type: 'guardian.exitReceipt' });
  const [asked] = await positions(daemon, outer, 'drain.requested');
  const [left] = await positions(daemon, outer, 'workload.statusReceipt');
  const [proved] = await positions(daemon, inner, 'guardian.exitReceipt');
  expect(asked).toBeLessThan(proved!);
  expect(left).toBeGreaterThan(proved!);
}

describe('SHUT-09: of two overlapping ends the later one waits', () => {
  it('the outer one for the inner one', async () => {
    const { daemon, inner, outer } = await nested();
    const stopping = daemon.call('runs.stop', { id: inner.runId, graceMs: 2_000 });
    await daemon.event({ actor: inner.scopeId, type: 'drain.requested' });
    expect((await daemon.call('drain', {})).settled).toEqual(expect.arrayContaining([inner.scopeId, outer]));
    expect(await stopping).toMatchObject({ outcome: 'proved' });
    await expectInOrder(daemon, inner.scopeId, outer);
  });

  it('and for a daemon that was killed meanwhile as well (SHUT-10)', async () => {
    const { daemon, inner, outer } = await nested();
    const stopping = daemon.attempt('runs.stop', { id: inner.runId, graceMs: 2_000 }).catch(() => undefined);
    await daemon.event({ actor: inner.scopeId, type: 'drain.requested' });
    const draining = daemon.attempt('drain', {}).catch(() => undefined);
    await daemon.event({ actor: outer, type: 'drain.requested' });
    await daemon.kill();
    await Promise.all([stopping, draining]);
    await daemon.start();
    await expectInOrder(daemon, inner.scopeId, outer);
  });

  it('the inner one for the outer one, which takes it along: nothing is frozen twice', async () => {
    const { daemon, inner, outer } = await nested();
    const drained = await daemon.call('drain', {});
    expect(drained.settled).toEqual(expect.arrayContaining([inner.scopeId, outer]));
    expect(await positions(daemon, inner.scopeId, 'drain.requested')).toHaveLength(1);
    expect(await positions(daemon, inner.scopeId, 'drain.quiesced')).toEqual([]);
    expect(await daemon.scope(inner.scopeId)).toMatchObject({ assessment: { state: 'exited', proof: 'own_receipt' } });
  });
});
