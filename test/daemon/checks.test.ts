import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isGone } from '../guardian/support/processes.ts';
import { readReceipt } from '../guardian/support/scope.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, killAt } from '../support/daemonFailpoints.ts';
import { checkHeldBy, letGo, runningCheck, runsOf } from './support/heldChecks.ts';
import { checksOf, killWorker, positionOf, ticked, workerOf, workingDaemon } from './support/workers.ts';

const receiptOf = (daemon: TestDaemon, goalId: string, since = 0) =>
  daemon.event({ actor: goalId, type: 'receipt.recorded', since });

describe('the configured check of a queued Goal', () => {
  it.each([
    ['exit 0', 'accepted', 'plan'],
    ['exit 3', 'failed', 'failed'],
    ['kill -9 $$', 'failed', 'failed'],
  ])('%s is %s', async (check, verdict, status) => {
    const daemon = await workingDaemon({ check }).start();
    const { goalId } = await daemon.goal();
    expect((await receiptOf(daemon, goalId)).payload).toMatchObject({ kind: 'quality', verdict });
    const shown = await daemon.call('goals.show', { id: goalId });
    expect(shown).toMatchObject({ status, check: { runId: shown.runs[0], verdict, reason: null } });
  });

  it("finds the user's language and paths, and none of their credentials (ruling 23)", async () => {
    const found = { LC_TIME: 'C.UTF-8', TZ: 'UTC', API_KEY: 'secret', NODE_OPTIONS: '--no-warnings', TERM: 'xterm' };
    const daemon = workingDaemon({ env: found });
    const list = join(daemon.home.dir, 'environment');
    Object.assign(daemon.home.env, { CUSTODY_CHECKS: checksOf(`tr '\\0' '\\n' < /proc/$$/environ > '${list}'`) });
    await daemon.start();
    const { goalId } = await daemon.goal();
    expect((await receiptOf(daemon, goalId)).payload).toMatchObject({ verdict: 'accepted' });
    const lines = readFileSync(list, 'utf8').split('\n');
    expect(lines).toEqual(expect.arrayContaining(['LC_TIME=C.UTF-8', 'TZ=UTC', `PATH=${process.env.PATH}`]));
    const withheld = /^(API_KEY|NODE_OPTIONS|TERM|CUSTODY_CHECKS|CUSTODY_TICK_INTERVAL_MS)=/;
    expect(lines.filter((line) => withheld.test(line))).toEqual([]);
  });

  it('that cannot be started fails the step, and gives no verdict', async () => {
    const daemon = workingDaemon();
    Object.assign(daemon.home.env, { CUSTODY_CHECKS: JSON.stringify({ '*': ['/no/such/program'] }) });
    await daemon.start();
    const { goalId } = await daemon.goal();
    const failed = await daemon.event({ actor: goalId, type: 'step.failed' });
    expect(failed.payload).toMatchObject({ failureClass: 'preparation', reasonCode: 'check_not_started' });
    expect(await daemon.events({ actor: goalId, type: 'receipt.recorded' })).toEqual([]);
    const { check, runs } = await daemon.call('goals.show', { id: goalId });
    expect(check).toEqual({ runId: runs[0], verdict: null, reason: 'check_not_started' });
  });

  it('that takes too long is ended, and fails the step', async () => {
    const daemon = await workingDaemon({ check: 'sleep 1000', env: { CUSTODY_CHECK_TIMEOUT_MS: '300' } }).start();
    const { goalId } = await daemon.goal();
    const failed = await daemon.event({ actor: goalId, type: 'step.failed' });
    expect(failed.payload).toMatchObject({ failureClass: 'infrastructure', reasonCode: 'check_deadline' });
  });

  it('that somebody stops is not begun again behind their back', async () => {
    const daemon = await checkHeldBy().start();
    const { goalId } = await daemon.goal();
    const { runId } = await runningCheck(daemon);
    expect((await daemon.call('goals.show', { id: goalId })).check).toEqual({ runId, verdict: null, reason: null });
    await daemon.call('runs.stop', { id: runId! });
    await daemon.event({ actor: goalId, type: 'stop.settled' });
    expect((await daemon.call('goals.show', { id: goalId })).status).toBe('failed');
    expect(runsOf(daemon)).toBe(1);
  });

  it('of a Goal that is cancelled is ended, and nothing is recorded', async () => {
    const daemon = await checkHeldBy().start();
    const { goalId } = await daemon.goal();
    const { scopeId } = await runningCheck(daemon);
    await daemon.call('goals.cancel', { id: goalId });
    await daemon.event({ actor: scopeId, type: 'guardian.exitReceipt' });
    expect(await daemon.events({ actor: goalId, type: 'receipt.recorded' })).toEqual([]);
    expect((await daemon.call('goals.show', { id: goalId })).status).toBe('cancelled');
  });

  it('SHUT-03 that ends because its worker did gives no verdict and is run again by the next worker', async () => {
    const daemon = await checkHeldBy().start();
    const { goalId } = await daemon.goal();
    const check = await runningCheck(daemon);
    const { scopeId: outer } = await workerOf(daemon);
    const since = await positionOf(daemon);
    await killWorker(daemon);
    const interrupted = await daemon.event({ actor: goalId, type: 'execution.interrupted', since });
    expect(interrupted.payload).toMatchObject({ scopeId: check.scopeId });
    letGo(daemon);
    expect((await receiptOf(daemon, goalId)).payload.verdict).toBe('accepted');
    expect(runsOf(daemon)).toBe(2);
    expect(await daemon.events({ actor: goalId, type: 'receipt.recorded' })).toHaveLength(1);
    // SHUT-04: the nested guardian was spared until its own receipt was complete.
    const [inner, around] = [
      readReceipt(daemon.scopeDir(check.scopeId), 'exit'),
      readReceipt(daemon.scopeDir(outer), 'exit'),
    ];
    expect(inner.enclosing?.scope).toBe(outer);
    expect(BigInt(inner.atNs)).toBeLessThan(BigInt(around.atNs));
    expect(around.lostNested).toBe(0);
  });

  it('is not begun while the Goal is worked on, and not beside another one', async () => {
    const daemon = await workingDaemon({ check: 'true' }).start();
    await ticked(daemon);
    const { goalId } = await daemon.call('goals.add', { title: 'a', repo: daemon.home.repo, request: 'x\n' });
    await daemon.call('worktrees.add', { goalId });
    const { runId } = await daemon.exec(goalId, 'sleep 1000');
    await daemon.call('goals.queue', { id: goalId });
    const other = await daemon.goal();
    await receiptOf(daemon, other.goalId);
    expect(await daemon.events({ actor: goalId, type: 'claim.recorded' })).toEqual([]);
    await daemon.call('runs.stop', { id: runId });
    await receiptOf(daemon, goalId);
  });

  it('waits for a slot, and for admission to be resumed', async () => {
    const daemon = await workingDaemon({ env: { CUSTODY_CAPACITY: '1', CUSTODY_RETRY_BACKOFF_MS: '50' } }).start();
    await ticked(daemon);
    const busy = await daemon.call('goals.add', { title: 'a', repo: daemon.home.repo, request: 'x\n' });
    await daemon.call('worktrees.add', { goalId: busy.goalId });
    const { runId } = await daemon.exec(busy.goalId, 'sleep 1000');
    await daemon.call('pause', {});
    const { goalId } = await daemon.goal();
    await daemon.call('runs.stop', { id: runId });
    expect(await daemon.events({ actor: goalId, type: 'claim.recorded' })).toEqual([]);
    await daemon.call('resume', {});
    await receiptOf(daemon, goalId);
  });
});

describe('a check and a daemon that dies', () => {
  it('goes on without it, and is settled once by the next one', async () => {
    const daemon = await checkHeldBy('exit 0').start();
    const { goalId } = await daemon.goal();
    const { scopeId, guardianPid } = await runningCheck(daemon);
    await daemon.kill('SIGKILL');
    letGo(daemon);
    await isGone(guardianPid!);
    await daemon.start();
    expect((await receiptOf(daemon, goalId)).payload).toMatchObject({ verdict: 'accepted' });
    expect(runsOf(daemon)).toBe(1);
    expect(await daemon.events({ actor: goalId, type: 'receipt.recorded' })).toHaveLength(1);
    expect((await daemon.scope(scopeId))?.assessment ?? { state: 'exited' }).toMatchObject({ state: 'exited' });
  });

  const points = [
    ['run.reserved', 'after_commit'],
    ['guardian.attached', 'before_commit'],
    ['launch.releaseCommitted', 'after_commit'],
    ['workload.statusReceipt', 'after_commit'],
    ['receipt.recorded', 'before_commit'],
    ['receipt.recorded', 'after_commit'],
  ] as const;
  it.each(points)(
    'WRK-07 CLAIM-04 killed at %s, %s: it runs at most once at a time and is recorded once',
    async (type, side) => {
      const daemon = workingDaemon();
      Object.assign(daemon.home.env, { CUSTODY_CHECKS: checksOf(`echo run >> ${daemon.home.dir}/ran`) });
      await daemon.start(failingDaemonCommand());
      await ticked(daemon);
      const since = await positionOf(daemon);
      const { goalId } = await daemon.call('goals.add', { title: 'a', repo: daemon.home.repo, request: 'x\n' });
      await daemon.call('worktrees.add', { goalId });
      await killAt(daemon, { at: 'after_journal_insert', of: type, next: side });
      await daemon.call('goals.queue', { id: goalId }).catch(() => {});
      await daemon.process.exited;
      await daemon.start(failingDaemonCommand());
      const receipt = await receiptOf(daemon, goalId, since);
      expect(receipt.payload).toMatchObject({ verdict: 'accepted' });
      expect(await daemon.events({ actor: goalId, type: 'receipt.recorded' })).toHaveLength(1);
      // Behind a gate that was not opened nothing ran; a check that did run is not run again.
      expect(runsOf(daemon)).toBe(1);
    },
  );
});
