import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isGone } from '../guardian/support/processes.ts';
import { readReceipt } from '../guardian/support/scope.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { loseGuardianOf } from '../support/guardianLoss.ts';
import { patienceMs } from '../support/patience.ts';
import { checkHeldBy, letGo, runningCheck, runsOf } from './support/heldChecks.ts';
import { killWorker, positionOf, ticked, workerOf } from './support/workers.ts';

interface Files {
  readonly [name: string]: readonly [ino: bigint, text: string];
}

const filesOf = (scopeDir: string): Files =>
  Object.fromEntries(
    ['start.json', 'status.reserved', 'exit.reserved'].map((name) => {
      const path = join(scopeDir, name);
      return [name, [statSync(path, { bigint: true }).ino, readFileSync(path, 'latin1')]];
    }),
  );

async function lostCheck(): Promise<{ daemon: TestDaemon; goalId: string; check: string; outer: string }> {
  const daemon = await checkHeldBy().start();
  const { goalId } = await daemon.goal();
  const { scopeId: check } = await runningCheck(daemon);
  const { scopeId: outer } = await workerOf(daemon);
  await loseGuardianOf(daemon, check);
  await daemon.event({ actor: check, type: 'guardian.observed' }, ({ payload }) => payload.result === 'absent');
  return { daemon, goalId, check, outer: outer! };
}

describe('a nested scope whose guardian is lost', () => {
  it('REPL-02 REPL-03 REPL-06 is proved by the receipt of the one around it, and its own files stay as they are', async () => {
    const { daemon, goalId, check, outer } = await lostCheck();
    const before = filesOf(daemon.scopeDir(check));
    const root = readReceipt(daemon.scopeDir(check), 'start').workload;
    expect((await daemon.scope(check)).assessment).toMatchObject({ state: 'unverified', reason: 'guardian_gone' });
    await killWorker(daemon);
    const accepted = await daemon.event({ actor: check, type: 'enclosing.receiptAccepted' });
    expect(accepted.payload).toMatchObject({ enclosingScopeId: outer, survivors: 0 });
    expect(readReceipt(daemon.scopeDir(outer), 'exit').lostNested).toBe(1);
    expect((await daemon.scope(check)).assessment).toEqual({ state: 'exited', proof: 'enclosing_receipt' });
    await isGone(root.pid);
    expect(filesOf(daemon.scopeDir(check))).toEqual(before);
    // The Goal goes on: nobody of the lost check is left, so it is run again.
    letGo(daemon);
    await daemon.event({ actor: goalId, type: 'receipt.recorded' });
    expect(runsOf(daemon)).toBe(2);
  });

  it('REC-09 is proved as well by a daemon that comes later', async () => {
    const { daemon, check, outer } = await lostCheck();
    const { guardianPid } = await daemon.scope((await workerOf(daemon)).scopeId);
    const { pid } = await workerOf(daemon);
    await daemon.kill('SIGKILL');
    process.kill(pid!, 'SIGKILL');
    letGo(daemon);
    await isGone(guardianPid!);
    await daemon.start();
    await daemon.event({ actor: check, type: 'enclosing.receiptAccepted' });
    expect((await daemon.scope(check)).assessment).toEqual({ state: 'exited', proof: 'enclosing_receipt' });
    // REPL-08: what was accepted once stands in the journal.
    rmSync(join(daemon.scopeDir(outer), 'exit.json'));
    await daemon.restart();
    expect((await daemon.scope(check)).assessment).toEqual({ state: 'exited', proof: 'enclosing_receipt' });
  });

  it('is proved on request, at the cost of the worker around it', async () => {
    const { daemon, check, outer } = await lostCheck();
    const { health } = await daemon.call('status', {});
    expect(health.reasons.find(({ scopeId }) => scopeId === check)?.next[0]).toBe('custody recover --now');
    const since = await positionOf(daemon);
    await daemon.call('recover', { now: true, waitMs: patienceMs });
    const [started] = await daemon.events({ since, type: 'recovery.started' });
    expect(started?.payload).toMatchObject({ reason: 'nested_unverified', old: { scopeId: outer } });
    expect((await daemon.scope(check)).assessment).toEqual({ state: 'exited', proof: 'enclosing_receipt' });
    expect((await daemon.call('status', {})).health.state).toBe('ok');
  });

  it('REPL-04 stays unverified while the one around it lives, and with it every replacement', async () => {
    const { daemon, check } = await lostCheck();
    const since = await positionOf(daemon);
    const shown = await daemon.call('recover', {});
    expect(shown.blockers.map(({ scopeId }) => scopeId)).toEqual([check]);
    await daemon.restart('SIGKILL');
    expect((await daemon.scope(check)).assessment).toMatchObject({ state: 'unverified' });
    expect(await daemon.events({ since, type: 'enclosing.receiptAccepted' })).toEqual([]);
    await ticked(daemon);
  });
});
