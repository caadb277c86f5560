import { existsSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkHeldBy, letGo, runningCheck, runsOf } from '../daemon/support/heldChecks.ts';
import {
  checksOf,
  killWorker,
  positionOf,
  ticked,
  tickingWorker,
  workerOf,
  workingDaemon,
} from '../daemon/support/workers.ts';
import { inState, isAlive, isGone } from '../guardian/support/processes.ts';
import { readReceipt } from '../guardian/support/scope.ts';
import { startReceipt } from '../support/daemonLeftovers.ts';
import { eventually } from '../support/eventually.ts';
import { continueGuardian, stopGuardian } from '../support/guardianPair.ts';
import { escapee, nextChange } from './support/escapee.ts';

describe('D1 the escapee of a nested scope', () => {
  it('is ended with its check, before the receipt, and the check counts as it ended', async () => {
    const daemon = workingDaemon();
    const { script } = escapee(daemon);
    Object.assign(daemon.home.env, { CUSTODY_CHECKS: checksOf(script) });
    await daemon.start();
    const { goalId } = await daemon.goal();
    expect((await daemon.event({ actor: goalId, type: 'receipt.recorded' })).payload.verdict).toBe('accepted');
    const { scopes } = await daemon.call('processes', { released: true });
    const check = scopes.find(({ purpose }) => purpose === 'check')!;
    expect(readReceipt(daemon.scopeDir(check.scopeId), 'exit')).toMatchObject({
      how: 'exited',
      code: 0,
      terminated: true,
    });
    expect((await workerOf(daemon)).state).toBe('ticking');
  });

  it('is ended with the worker, inner receipt first', async () => {
    const daemon = workingDaemon();
    const { script, ticks } = escapee(daemon);
    Object.assign(daemon.home.env, { CUSTODY_CHECKS: checksOf(script.replace(/exit 0$/, 'exec sleep 1000')) });
    await daemon.start();
    await daemon.goal();
    await eventually('the first tick of the escapee', () => existsSync(ticks) || undefined);
    await nextChange(ticks);
    const { scopeId: outer } = await workerOf(daemon);
    const { scopes } = await daemon.call('processes', {});
    const check = scopes.find(({ purpose }) => purpose === 'check')!;
    const since = await positionOf(daemon);
    await killWorker(daemon);
    await daemon.event({ since, actor: outer!, type: 'guardian.exitReceipt' });
    const [inner, around] = [
      readReceipt(daemon.scopeDir(check.scopeId), 'exit'),
      readReceipt(daemon.scopeDir(outer), 'exit'),
    ];
    expect(around.lostNested).toBe(0);
    expect(BigInt(inner.atNs)).toBeLessThan(BigInt(around.atNs));
    await ticked(daemon, since);
  });
});

describe('D3 the silence of a guardian is not death', () => {
  it.each(['the check', 'the worker'] as const)('of %s: nothing is ended, replaced or run again', async (whose) => {
    const daemon = await checkHeldBy('true', { CUSTODY_RESPONSE_MS: '50' }).start();
    const { goalId } = await daemon.goal();
    const check = await runningCheck(daemon);
    const worker = await workerOf(daemon);
    const silent = startReceipt(daemon.scopeDir(whose === 'the check' ? check.scopeId : worker.scopeId))!;
    stopGuardian(silent.guardian);
    onTestFinished(() => continueGuardian(silent.guardian));
    await inState(silent.guardian.pid, 'T');
    const since = await positionOf(daemon);
    await daemon.restart('SIGTERM');
    const after = await tickingWorker(daemon);
    expect(after).toMatchObject({ pid: worker.pid, incarnationId: worker.incarnationId });
    expect([silent.guardian.pid, silent.workload.pid, worker.pid!].map(isAlive)).toEqual([true, true, true]);
    expect(await daemon.events({ since, type: 'recovery.started' })).toEqual([]);
    expect(await daemon.events({ since, type: 'drain.requested' })).toEqual([]);
    expect(runsOf(daemon)).toBe(1);
    continueGuardian(silent.guardian);
    letGo(daemon);
    expect((await daemon.event({ actor: goalId, type: 'receipt.recorded' })).payload.verdict).toBe('accepted');
    await isGone(check.guardianPid!);
    expect(runsOf(daemon)).toBe(1);
  });
});
