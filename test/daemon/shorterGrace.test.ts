import { describe, expect, it } from 'vitest';
import { Graces } from '../../actors/drain/graces.ts';
import { turns } from '../guardian/support/fifo.ts';
import { isGone } from '../guardian/support/processes.ts';
import { testDaemon } from '../support/daemon.ts';
import { startReceipt } from '../support/daemonLeftovers.ts';
import { killGuardian } from '../support/guardianPair.ts';

/** Nobody waits that long: what ends within a test has been ended by something else than the grace. */
const graceMs = 600_000;

/** Says so when it has been told to go, and stays. */
function stubborn(paths: readonly [string, string]): string {
  return `trap 'echo $$ > "${paths[0]}"' TERM; echo $$ > "${paths[0]}"; while :; do sleep 600 & wait; done`;
}

describe('D10, STOP-02: a second stop with a shorter grace', () => {
  it('ends what ignores SIGTERM at once, and both are answered by the same result', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const turn = turns(daemon.home.dir);
    const { runId, scopeId } = await daemon.exec(goalId, stubborn(turn.paths));
    await turn.ready();
    const first = daemon.call('runs.stop', { id: runId, graceMs, waitMs: graceMs });
    await turn.ready();
    const second = await daemon.call('runs.stop', { id: runId, graceMs: 0, waitMs: graceMs });
    expect(second).toMatchObject({ outcome: 'proved', assessment: { state: 'exited', proof: 'own_receipt' } });
    expect({ ...(await first), elapsedMs: 0 }).toEqual({ ...second, elapsedMs: 0 });
    const asked = await daemon.events({ actor: scopeId!, type: 'drain.requested' });
    expect(asked.map(({ outcome }) => outcome)).toEqual(['changed', 'noop']);
  });

  it('cannot prolong, and one that names no grace changes nothing', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const turn = turns(daemon.home.dir);
    const { runId } = await daemon.exec(goalId, stubborn(turn.paths));
    await turn.ready();
    const first = daemon.call('runs.stop', { id: runId, graceMs, waitMs: graceMs });
    await turn.ready();
    expect(await daemon.call('runs.stop', { id: runId, waitMs: 0 })).toMatchObject({ outcome: 'draining' });
    const longer = { id: runId, graceMs: 2 * graceMs, waitMs: 0 };
    expect(await daemon.call('runs.stop', longer)).toMatchObject({ outcome: 'draining' });
    expect(await daemon.scope((await daemon.call('runs.show', { id: runId })).scopeId)).toMatchObject({
      termination: 'quiescing',
    });
    await daemon.call('runs.stop', { id: runId, graceMs: 0, waitMs: graceMs });
    expect(await first).toMatchObject({ outcome: 'proved' });
  });

  it('is heard as well when the guardian is gone and the daemon itself waits out the grace', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const turn = turns(daemon.home.dir);
    const { runId, scopeId } = await daemon.exec(goalId, stubborn(turn.paths));
    const workload = { pid: await turn.ready() };
    killGuardian(startReceipt(daemon.scopeDir(scopeId))!.guardian);
    await daemon.event({ actor: scopeId!, type: 'guardian.observed' }, ({ payload }) => payload.result === 'absent');
    const first = daemon.attempt('runs.stop', { id: runId, graceMs, waitMs: graceMs });
    await turn.ready();
    const second = await daemon.attempt('runs.stop', { id: runId, graceMs: 0, waitMs: graceMs });
    const result = { ok: true, exitCode: 5, data: { outcome: 'stopped_unverified' } };
    expect(second).toMatchObject(result);
    expect(await first).toMatchObject(result);
    await isGone(workload.pid);
  });
});

describe('a grace that the daemon waits out', () => {
  it('only ever becomes shorter, and is over with the wait', async () => {
    const graces = new Graces({ monoMs: () => 1_000 });
    await graces.during('S1', 100, async (untilMonoMs) => {
      const heard = [untilMonoMs()];
      for (const ms of [50, 80]) {
        graces.shorten('S1', ms);
        heard.push(untilMonoMs());
      }
      expect(heard).toEqual([1_100, 1_050, 1_050]);
    });
    graces.shorten('S1', 0);
    await graces.during('S1', 100, async (untilMonoMs) => expect(untilMonoMs()).toBe(1_100));
  });
});
