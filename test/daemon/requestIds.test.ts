import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';

const conflict = { code: 'event_id_conflict', exitCode: 11, retryable: false };
const launches = (daemon: TestDaemon) => readFileSync(join(daemon.home.dir, 'launches'), 'utf8').trim().split('\n');
const script = (daemon: TestDaemon) => `echo $CUSTODY_RUN >> "${daemon.home.dir}/launches"; exit 7`;

describe('STOP-08, FAULT-02, I-35: a request id', () => {
  it('launches once, however often and however simultaneously it is repeated', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const exec = () => daemon.exec(goalId, script(daemon), { requestId: 'once' });
    const views = await Promise.all(Array.from({ length: 8 }, exec));
    expect(new Set(views.map(({ runId }) => runId)).size).toBe(1);
    await daemon.proved(views[0]!.runId);
    await exec();
    expect(launches(daemon)).toEqual([views[0]!.runId]);
  });

  it('is answered by the first result, whatever has become of Goal and worktree since', async () => {
    const daemon = await testDaemon().start();
    const { goalId, generationId } = await daemon.goal();
    const exec = { requestId: 'once' };
    const { runId } = await daemon.exec(goalId, script(daemon), exec);
    await daemon.proved(runId);
    await daemon.call('worktrees.close', { id: generationId });
    expect(await daemon.exec(goalId, script(daemon), exec)).toMatchObject({ runId, state: 'ended' });
    await daemon.call('goals.cancel', { id: goalId });
    await daemon.restart();
    expect(await daemon.exec(goalId, script(daemon), exec)).toMatchObject({ runId, state: 'ended' });
    expect(launches(daemon)).toEqual([runId]);
  });

  it('is refused for anything else, and nothing else happens', async () => {
    const daemon = await testDaemon().start();
    const [one, two] = [await daemon.goal({ requestId: 'goal one' }), await daemon.goal({ requestId: 'goal two' })];
    const { repo } = daemon.home;
    const added = { title: 'a goal', repo, request: 'do something\n', queue: true, requestId: 'goal one' };
    for (const other of [{ title: 'b' }, { request: 'else' }, { queue: false }, { priority: 3 }]) {
      expect(await daemon.refusal('goals.add', { ...added, ...other })).toMatchObject(conflict);
    }
    expect(readdirSync(join(daemon.home.stateDir, 'requests'))).toHaveLength(1); // of the refused text nothing is kept
    const { runId } = await daemon.exec(one.goalId, script(daemon), { requestId: 'run' });
    await daemon.proved(runId);
    const exec = (goalId: string, more: string, options = {}) =>
      daemon.refusal(
        'runs.exec',
        daemon.launchArguments(goalId, script(daemon) + more, { requestId: 'run', ...options }),
      );
    expect(await exec(one.goalId, ' ')).toMatchObject(conflict);
    expect(await exec(two.goalId, '')).toMatchObject(conflict);
    expect(await exec(one.goalId, '', { label: 'x' })).toMatchObject(conflict);
    expect(await exec(one.goalId, '', { requestId: 'goal two' })).toMatchObject(conflict);
    const running = await daemon.exec(two.goalId, 'exec sleep 600');
    for (const requestId of ['run', 'goal one']) {
      expect(await daemon.refusal('runs.stop', { id: running.runId, requestId })).toMatchObject(conflict);
      expect(await daemon.refusal('goals.cancel', { id: two.goalId, requestId })).toMatchObject(conflict);
      expect(await daemon.refusal('worktrees.close', { id: two.generationId, requestId })).toMatchObject(conflict);
      expect(await daemon.refusal('worktrees.seal', { id: two.generationId, requestId })).toMatchObject(conflict);
      expect(await daemon.refusal('worktrees.add', { goalId: two.goalId, requestId })).toMatchObject(conflict);
    }
    expect(await daemon.scope(running.scopeId)).toMatchObject({ assessment: { state: 'live' }, termination: 'idle' });
    expect(await daemon.call('worktrees.show', { id: two.generationId })).toMatchObject({ lifecycle: 'open' });
    expect(launches(daemon)).toEqual([runId]);
  });

  it('queues and cancels once, and says so twice', async () => {
    const daemon = await testDaemon().start();
    const add = (requestId: string) =>
      daemon.call('goals.add', { title: requestId, repo: daemon.home.repo, request: 'x', requestId });
    const [one, two] = [await add('one'), await add('two')];
    const queue = (id: string) => daemon.attempt('goals.queue', { id, requestId: 'queue' });
    const first = await queue(one.goalId);
    expect(first).toMatchObject({ ok: true, data: { outcome: 'changed', status: 'todo' } });
    expect(await queue(one.goalId)).toMatchObject({ ok: true, data: first.ok ? first.data : {} });
    expect(await queue(two.goalId)).toMatchObject({ ok: false, error: conflict });
    expect(await daemon.call('goals.show', { id: two.goalId })).toMatchObject({ status: 'backlog' });
    const cancel = (id: string, requestId = 'cancel') => daemon.attempt('goals.cancel', { id, requestId });
    const cancelled = await cancel(one.goalId);
    expect(cancelled).toMatchObject({ ok: true, data: { outcome: 'changed', status: 'cancelled' } });
    expect(await cancel(one.goalId)).toMatchObject({ ok: true, data: cancelled.ok ? cancelled.data : {} });
    expect(await cancel(two.goalId)).toMatchObject({ ok: false, error: conflict });
    expect(await cancel(two.goalId, 'queue')).toMatchObject({ ok: false, error: conflict });
    expect(await daemon.attempt('goals.queue', { id: one.goalId, requestId: 'cancel' })).toMatchObject({
      ok: false,
      error: conflict,
    });
  });
});
