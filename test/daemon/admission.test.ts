import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { turns } from '../guardian/support/fifo.ts';
import { testDaemon } from '../support/daemon.ts';
import { patienceMs } from '../support/patience.ts';

describe('GOAL-04, OWN-02: slots', () => {
  it('sixteen at once never hold more than the capacity; refusals name the holders and move no Goal; a proof frees a slot', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_CAPACITY: '3' } }).start();
    const goals = [await daemon.goal(), await daemon.goal()];
    const before = await Promise.all(goals.map(({ goalId }) => daemon.call('goals.show', { id: goalId })));
    const exec = (at: number) =>
      daemon.attempt('runs.exec', daemon.launchArguments(goals[at % 2]!.goalId, 'exec sleep 600'));
    const replies = await Promise.all(Array.from({ length: 16 }, (_, at) => exec(at)));
    const running = replies.flatMap((reply) => (reply.ok ? [reply.data] : []));
    expect(running).toHaveLength(3);
    const { capacity } = await daemon.call('status', {});
    expect([...capacity.scopeIds].sort()).toEqual(running.map(({ scopeId }) => scopeId).sort());
    for (const reply of replies) {
      if (!reply.ok) expect(reply.error).toMatchObject({ code: 'capacity_full', exitCode: 13, retryable: true });
    }
    expect(await daemon.refusal('runs.exec', daemon.launchArguments(goals[0]!.goalId, 'true'))).toMatchObject({
      details: { scopeIds: expect.arrayContaining([...capacity.scopeIds]) },
    });
    const after = await Promise.all(goals.map(({ goalId }) => daemon.call('goals.show', { id: goalId })));
    expect(after.map(({ revision, status }) => [revision, status])).toEqual(
      before.map(({ revision, status }) => [revision, status]),
    );
    await daemon.call('runs.stop', { id: running[0]!.runId, graceMs: 0, waitMs: patienceMs });
    expect(await exec(0)).toMatchObject({ ok: true });
  });

  it('a root that ended keeps its slot until its tree is proved to be gone', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_CAPACITY: '1' } }).start();
    const { goalId } = await daemon.goal();
    const turn = turns(daemon.home.dir);
    const child = `setsid sh -c 'read line < "${turn.paths[1]}"' & exit 0`;
    const run = await daemon.exec(goalId, child, { onRootExit: 'wait' });
    await daemon.ended(run.runId);
    expect(await daemon.refusal('runs.exec', daemon.launchArguments(goalId, 'true'))).toMatchObject({
      code: 'capacity_full',
      details: { scopeIds: [run.scopeId] },
    });
    await turn.release();
    await daemon.proved(run.runId);
    expect(await daemon.exec(goalId, 'true')).toMatchObject({ goalId });
  });
});

describe('the admission gate', () => {
  it('launches nothing while it is paused, also after a crash, and goes on when it is resumed', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const ran = join(daemon.home.dir, 'ran');
    await daemon.call('pause', {});
    const exec = daemon.launchArguments(goalId, `touch "${ran}"`);
    expect(await daemon.refusal('runs.exec', exec)).toMatchObject({ code: 'admission_closed', exitCode: 13 });
    await daemon.restart();
    expect(await daemon.refusal('runs.exec', exec)).toMatchObject({ code: 'admission_closed' });
    expect((await daemon.call('runs.list', {})).runs).toEqual([]);
    await daemon.call('resume', {});
    expect(await daemon.call('runs.exec', exec)).toMatchObject({ goalId });
  });

  it('GOAL-02, STOP-04: launches nothing for a cancelled Goal', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    await daemon.call('goals.cancel', { id: goalId });
    const refusal = await daemon.refusal('runs.exec', daemon.launchArguments(goalId, 'true'));
    expect(refusal).toMatchObject({ code: 'preconditions_unmet', exitCode: 13 });
  });
});
