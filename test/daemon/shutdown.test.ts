import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { calendarClock } from '../../actors/daemon/calendarClock.ts';
import { openStore } from '../../persistence/store.ts';
import { testDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, holdAt, killAt } from '../support/daemonFailpoints.ts';
import { isSame, startReceipt } from '../support/daemonLeftovers.ts';
import { eventually } from '../support/eventually.ts';
import { stubborn } from './support/stubborn.ts';

const ownReceipt = { state: 'exited', proof: 'own_receipt' };

describe('SHUT-01, SHUT-03, SHUT-06, STOP-07: stopping the daemon', () => {
  it('drains everything to proof before it leaves, and no Goal moves', async () => {
    const daemon = await testDaemon().start();
    const runs = [await stubborn(daemon, 'one'), await stubborn(daemon, 'two')];
    const before = await Promise.all(runs.map(({ goalId }) => daemon.call('goals.show', { id: goalId })));
    const stopped = await daemon.call('daemon.stop', {});
    expect(stopped).toMatchObject({ stopped: true, blocked: [] });
    expect([...stopped.settled].sort()).toEqual(runs.map(({ scopeId }) => scopeId).sort());
    expect(await daemon.process.exited).toEqual({ code: 0, signal: null });
    for (const { scopeId } of runs) expect(existsSync(join(daemon.scopeDir(scopeId), 'exit.json'))).toBe(true);
    await daemon.start();
    for (const { runId } of runs) expect(await daemon.ended(runId)).toMatchObject({ scope: ownReceipt });
    const after = await Promise.all(runs.map(({ goalId }) => daemon.call('goals.show', { id: goalId })));
    expect(after).toEqual(before);
  });

  it('admits nothing while it drains', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '1000' } }).start();
    const { goalId, scopeId } = await stubborn(daemon, 'one');
    const ran = join(daemon.home.dir, 'ran');
    const stopping = daemon.call('daemon.stop', {});
    await daemon.event({ actor: scopeId, type: 'drain.requested' });
    const refusal = await daemon.refusal('runs.exec', daemon.launchArguments(goalId, `touch "${ran}"`));
    expect(refusal).toMatchObject({ code: 'admission_closed', exitCode: 13 });
    expect(await stopping).toMatchObject({ stopped: true, settled: [scopeId] });
    expect(existsSync(ran)).toBe(false);
  });

  it('keepWork and SIGTERM end the daemon alone (ruling 21)', async () => {
    const daemon = await testDaemon().start();
    const { runId } = await stubborn(daemon, 'one');
    await daemon.call('daemon.stop', { keepWork: true });
    expect(await daemon.process.exited).toEqual({ code: 0, signal: null });
    await daemon.start();
    expect(await daemon.call('runs.show', { id: runId })).toMatchObject({ state: 'bound', scope: { state: 'live' } });
    expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    await daemon.start();
    expect(await daemon.call('runs.show', { id: runId })).toMatchObject({ state: 'bound', scope: { state: 'live' } });
  });
});

describe('SHUT-10, STOP-04: a daemon that dies in the middle of a drain', () => {
  it('whose record of the stop cannot be read has a successor that looks after the work', async () => {
    const daemon = await testDaemon().start();
    const { runId } = await stubborn(daemon, 'one');
    await daemon.kill();
    const store = openStore({ stateDir: daemon.home.stateDir, clock: calendarClock, create: false });
    store.write(() => store.meta.set('shutdown.intent', '{"verb":'));
    store.close();
    await daemon.start();
    expect(await daemon.call('status', {})).toMatchObject({ lifecycle: 'serving', admission: 'open' });
    expect(await daemon.call('runs.stop', { id: runId })).toMatchObject({ outcome: 'proved' });
    expect(await daemon.call('daemon.stop', {})).toMatchObject({ stopped: true });
  });

  it('goes on with a stop that was committed and not begun', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { runId } = await stubborn(daemon, 'one');
    await killAt(daemon, { at: 'after_journal_insert', of: 'drain.requested', next: 'after_commit' });
    await expect(daemon.attempt('runs.stop', { id: runId, requestId: 'stop' })).rejects.toMatchObject({
      code: 'daemon_gone',
    });
    await daemon.process.exited;
    await daemon.start();
    expect(await daemon.proved(runId)).toMatchObject({ state: 'ended', scope: ownReceipt });
    const again = await daemon.call('runs.stop', { id: runId, requestId: 'stop' });
    expect(again).toMatchObject({ outcome: 'proved', assessment: ownReceipt });
  });

  it('finds what it had asked a guardian for when that was done without it', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '300' } }).start();
    const { runId, scopeId } = await stubborn(daemon, 'one');
    const unanswered = expect(daemon.attempt('runs.stop', { id: runId })).rejects.toMatchObject({
      code: 'daemon_gone',
    });
    await daemon.event({ actor: scopeId, type: 'drain.requested' });
    await daemon.kill();
    await unanswered;
    await daemon.start();
    expect(await daemon.proved(runId)).toMatchObject({ state: 'ended', scope: ownReceipt });
  });

  it('a cancelled Goal stays cancelled, and its scopes are drained without anybody asking again', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { goalId, runId } = await stubborn(daemon, 'one');
    await killAt(daemon, { at: 'after_journal_insert', of: 'goal.cancelled', next: 'after_commit' });
    await expect(daemon.attempt('goals.cancel', { id: goalId })).rejects.toMatchObject({ code: 'daemon_gone' });
    await daemon.process.exited;
    await daemon.start();
    expect(await daemon.call('goals.show', { id: goalId })).toMatchObject({ status: 'cancelled' });
    expect(await daemon.proved(runId)).toMatchObject({ state: 'ended', scope: ownReceipt });
  });

  it('a deadline outlives it (TIME-02, TIME-03)', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const { runId, scopeId } = await daemon.exec(goalId, 'exec sleep 600', { timeoutMs: 1_000, graceMs: 0 });
    await daemon.restart();
    expect(await daemon.proved(runId)).toMatchObject({ result: { how: 'signaled' }, scope: ownReceipt });
    const [drain] = await daemon.events({ actor: scopeId!, type: 'drain.requested' });
    expect(drain?.payload).toMatchObject({ cause: 'deadline' });
  });
});

describe('launches on their way (ruling 4, SHUT-06)', () => {
  const points = [
    { at: 'after slots' },
    { at: 'before handshake' },
    { at: 'before release commit' },
    { at: 'before gate' },
  ];

  it('a stop knows each of them, wherever it is, and leaves nothing of it behind', async () => {
    const daemon = testDaemon({ env: { CUSTODY_GRACE_MS: '0' } });
    for (const point of points) {
      await daemon.start(failingDaemonCommand());
      const { goalId } = await daemon.goal();
      const exec = daemon.launchArguments(goalId, 'exec sleep 600', { requestId: point.at });
      const held = await holdAt(daemon, point);
      const launching = daemon.attempt('runs.exec', exec);
      await held.reached();
      const stopping = daemon.call('daemon.stop', {});
      await eventually('the end of admission', async () =>
        (await daemon.call('status', {})).admission === 'closed' ? true : undefined,
      );
      await held.letGo();
      expect(await stopping, point.at).toMatchObject({ stopped: true, blocked: [] });
      await launching;
      expect(await daemon.process.exited).toEqual({ code: 0, signal: null });
      await daemon.start();
      const [run] = (await daemon.call('runs.list', { goalId })).runs;
      expect(['ended', 'cancelled']).toContain(run!.state);
      expect(run!.scope?.state).toBe('exited');
      const receipt = startReceipt(daemon.scopeDir(run!.scopeId));
      if (receipt) expect([receipt.guardian, receipt.workload].filter(isSame)).toEqual([]);
      await daemon.kill();
    }
  });

  it('SIGTERM carries each of them to its gate, and the next daemon adopts it (ruling 21)', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { goalId } = await daemon.goal();
    for (const point of points) {
      const held = await holdAt(daemon, point);
      const launching = daemon.exec(goalId, 'exec sleep 600');
      await held.reached();
      const leaving = daemon.kill('SIGTERM');
      await held.letGo();
      const { runId } = await launching;
      expect(await leaving, point.at).toEqual({ code: 0, signal: null });
      await daemon.start(failingDaemonCommand());
      expect(await daemon.call('runs.show', { id: runId })).toMatchObject({ state: 'bound', scope: { state: 'live' } });
    }
  });
});
