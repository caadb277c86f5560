import { describe, expect, it } from 'vitest';
import { isGone } from '../guardian/support/processes.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { checkHeldBy, letGo, runningCheck, runsOf } from './support/heldChecks.ts';
import { checksOf, expectNoneBesideAnother, positionOf, ticked, workerOf, workingDaemon } from './support/workers.ts';

/** The next daemon has no checks, or others. */
async function restartedWith(daemon: TestDaemon, checks: string): Promise<void> {
  await daemon.kill('SIGTERM');
  Object.assign(daemon.home.env, { CUSTODY_CHECKS: checks });
  await daemon.start();
}

describe('a worker whose checks are taken out of the configuration', () => {
  it('is ended with proof and not replaced, and launched anew when there are checks again', async () => {
    const daemon = await workingDaemon().start();
    await ticked(daemon);
    const { pid, scopeId } = await workerOf(daemon);
    const since = await positionOf(daemon);
    await restartedWith(daemon, '{}');
    await daemon.event({ actor: scopeId!, type: 'guardian.exitReceipt' });
    await isGone(pid!);
    const status = await daemon.call('status', {});
    expect(status.worker).toMatchObject({ wanted: false, state: 'none', recovery: { phase: 'idle' } });
    expect(status.health.reasons).toEqual([]);
    expect(await daemon.events({ since, type: 'replacement.launched' })).toEqual([]);
    await restartedWith(daemon, checksOf('true'));
    await ticked(daemon, since);
    await expectNoneBesideAnother(daemon);
  });

  it('first says what came of the check that it has in hand', async () => {
    const daemon = await checkHeldBy('exit 0').start();
    const { goalId } = await daemon.goal();
    await runningCheck(daemon);
    const { scopeId } = await workerOf(daemon);
    await restartedWith(daemon, '{}');
    letGo(daemon);
    const receipt = await daemon.event({ actor: goalId, type: 'receipt.recorded' });
    expect(receipt.payload.verdict).toBe('accepted');
    const ended = await daemon.event({ actor: scopeId!, type: 'drain.requested' });
    expect(ended.position).toBeGreaterThan(receipt.position);
    await daemon.event({ actor: scopeId!, type: 'guardian.exitReceipt' });
    expect(runsOf(daemon)).toBe(1);
  });
});
