import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { turns } from '../guardian/support/fifo.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, holdAt } from '../support/daemonFailpoints.ts';
import { eventually } from '../support/eventually.ts';
import { occupied } from './support/occupied.ts';

/** The daemon has tried to commit a report of this kind, and could not. */
async function failedToReport(daemon: TestDaemon, what: string): Promise<void> {
  const log = join(daemon.home.stateDir, 'log', 'daemon.log');
  await eventually(`a ${what} that could not be committed`, () => {
    const lines = readFileSync(log, 'utf8').split('\n');
    return lines.find((line) => line.includes('store_busy') && line.includes(`"what":"${what}"`));
  });
}

describe('CONC-01, JRN-10: a store that is busy just then', () => {
  it('costs no status receipt: the run ends and its tree is drained as soon as there is room', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const turn = turns(daemon.home.dir);
    const script = `setsid sleep 600 & echo $$ > "${turn.paths[0]}"; read line < "${turn.paths[1]}"; exit 7`;
    const { runId } = await daemon.exec(goalId, script);
    await turn.ready();
    const letGo = occupied(daemon);
    await turn.release();
    await failedToReport(daemon, 'receipt');
    letGo();
    expect(await daemon.proved(runId)).toMatchObject({ result: { code: 7 }, scope: { proof: 'own_receipt' } });
  });

  it('costs no deadline: it is reached again', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const { runId } = await daemon.exec(goalId, 'exec sleep 600', { timeoutMs: 1_500 });
    const letGo = occupied(daemon);
    await failedToReport(daemon, 'deadline');
    letGo();
    expect(await daemon.proved(runId)).toMatchObject({ scope: { proof: 'own_receipt' } });
  });
});

describe('C.9, FAULT-08: while the store takes nothing', () => {
  it('health says why, nothing is launched, and what is known is shown; afterwards it goes on by itself', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const { runId } = await daemon.exec(goalId, 'exec sleep 600');
    const letGo = occupied(daemon);
    const busy = { code: 'store_busy', exitCode: 10, retryable: true };
    expect(await daemon.refusal('goals.cancel', { id: goalId })).toMatchObject(busy);
    const status = await daemon.call('status', {});
    expect(status).toMatchObject({
      admission: 'closed',
      health: { state: 'degraded', reasons: [{ code: 'store_busy' }] },
    });
    expect(await daemon.refusal('runs.exec', daemon.launchArguments(goalId, 'true'))).toMatchObject(busy);
    expect(await daemon.call('runs.show', { id: runId })).toMatchObject({ state: 'bound' });
    letGo();
    const recovered = await eventually('a store that is written again', async () => {
      const now = await daemon.call('status', {});
      return now.admission === 'open' ? now : undefined;
    });
    expect(recovered).toMatchObject({ health: { state: 'ok' } });
    expect(await daemon.exec(goalId, 'true')).toMatchObject({ goalId });
  });
});

describe('GOAL-04: a launch that is just being committed', () => {
  it('is counted once', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_CAPACITY: '2' } }).start(failingDaemonCommand());
    const { goalId } = await daemon.goal();
    const held = await holdAt(daemon, { at: 'after reserve commit' });
    const first = daemon.exec(goalId, 'exec sleep 600');
    await held.reached();
    await daemon.exec(goalId, 'exec sleep 600');
    expect(await daemon.refusal('runs.exec', daemon.launchArguments(goalId, 'true'))).toMatchObject({
      code: 'capacity_full',
    });
    await held.letGo();
    expect(await first).toMatchObject({ goalId });
  });
});
