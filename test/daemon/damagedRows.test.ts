import { describe, expect, it } from 'vitest';
import { turns } from '../guardian/support/fifo.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { damageRow } from '../support/damage.ts';

/** A daemon that was started on a store in which one of the rows of a running launch is damaged. */
async function damaged(which: 'goalId' | 'generationId' | 'runId' | 'scopeId') {
  const daemon = await testDaemon().start();
  const goal = await daemon.goal();
  const turn = turns(daemon.home.dir);
  const script = `echo $$ > "${turn.paths[0]}"; read line < "${turn.paths[1]}"`;
  const { runId, scopeId } = await daemon.exec(goal.goalId, script);
  await turn.ready();
  await daemon.kill();
  const ids = { goalId: goal.goalId, generationId: goal.generationId, runId, scopeId: scopeId! };
  damageRow(daemon, ids[which]);
  await daemon.start();
  return { daemon, turn, ...ids };
}

/** Everything else works: the daemon serves, observes and launches. */
async function expectOthersToWork(daemon: TestDaemon): Promise<void> {
  const { goalId } = await daemon.goal();
  const { runId } = await daemon.exec(goalId, 'exit 3');
  expect(await daemon.proved(runId)).toMatchObject({ result: { code: 3 } });
  expect(await daemon.attempt('status', {})).toMatchObject({ ok: true });
}

describe('OWN-10, JRN-10, ruling 27: a damaged row fails for its own actor and for nobody else', () => {
  it('of a run: its scope is adopted, observed and proved', async () => {
    const { daemon, turn, runId, scopeId } = await damaged('runId');
    await expectOthersToWork(daemon);
    expect(await daemon.refusal('runs.show', { id: runId })).toMatchObject({ code: 'actor_corrupt', exitCode: 9 });
    const listed = await daemon.attempt('runs.list', {});
    expect(listed).toMatchObject({ ok: true, warnings: [expect.stringContaining(runId)] });
    await turn.release();
    await daemon.event({ actor: scopeId, type: 'guardian.exitReceipt' });
    expect((await daemon.call('status', {})).capacity.used).toBe(0);
  });

  it('of a scope: it is unverified, keeps its slot, and its run is listed with that', async () => {
    const { daemon, turn, runId, scopeId } = await damaged('scopeId');
    await expectOthersToWork(daemon);
    const gap = { state: 'unverified', certainty: 'gap', reason: 'record_corrupt' };
    const { runs } = await daemon.call('runs.list', { active: true });
    expect(runs).toMatchObject([{ runId, scope: gap }]);
    expect(await daemon.attempt('status', {})).toMatchObject({
      exitCode: 5,
      data: { health: { state: 'ownership_unverified' }, capacity: { scopeIds: [scopeId] } },
    });
    expect(await daemon.refusal('runs.stop', { id: runId })).toMatchObject({ code: 'actor_corrupt' });
    await turn.release();
  });

  it('SHUT-01 of a run: the scope that nobody is registered for any more is drained with everybody else', async () => {
    const { daemon, scopeId } = await damaged('runId');
    const { goalId } = await daemon.goal();
    const other = await daemon.exec(goalId, 'exec sleep 600');
    const { settled, blocked } = await daemon.call('drain', {});
    expect([[...settled].sort(), blocked]).toEqual([[scopeId, other.scopeId!].sort(), []]);
    expect(await daemon.scope(scopeId)).toMatchObject({ assessment: { state: 'exited', proof: 'own_receipt' } });
    expect(await daemon.call('daemon.stop', {})).toMatchObject({ stopped: true });
  });

  it('SHUT-01 of a scope: the daemon does not leave before it, and everybody else is drained', async () => {
    const { daemon, turn, scopeId } = await damaged('scopeId');
    const { goalId } = await daemon.goal();
    const other = await daemon.exec(goalId, 'exec sleep 600');
    expect(await daemon.refusal('daemon.stop', {})).toMatchObject({
      code: 'drain_blocked',
      exitCode: 6,
      details: { settled: [other.scopeId], blocked: [scopeId] },
    });
    await turn.release();
  });

  it.each([
    ['goalId', 'goals.list'],
    ['generationId', 'worktrees.list'],
  ] as const)('of a %s: lists say what they leave out', async (which, list) => {
    const { daemon, turn, [which]: id, runId } = await damaged(which);
    await expectOthersToWork(daemon);
    expect(await daemon.attempt(list, {})).toMatchObject({ ok: true, warnings: [expect.stringContaining(id)] });
    expect((await daemon.call('runs.list', {})).runs.map((run) => run.runId)).toContain(runId);
    await turn.release();
    expect(await daemon.proved(runId)).toMatchObject({ state: 'ended' });
  });
});
