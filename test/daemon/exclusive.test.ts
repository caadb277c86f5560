import { describe, expect, it } from 'vitest';
import { calendarClock } from '../../actors/daemon/calendarClock.ts';
import { recordIntent } from '../../actors/daemon/shutdown/intent.ts';
import { Exclusive } from '../../actors/daemon/worker/exclusive.ts';
import { openStore } from '../../persistence/store.ts';
import { failingDaemonCommand, killAt } from '../support/daemonFailpoints.ts';
import { signalVerified, startReceipt } from '../support/daemonLeftovers.ts';
import { eventually } from '../support/eventually.ts';
import { killGuardian } from '../support/guardianPair.ts';
import { stubborn } from './support/stubborn.ts';
import { ticked, workerOf, workingDaemon } from './support/workers.ts';

/** A clock whose only alarm is set off by hand. */
function alarm() {
  let ring = () => {};
  const clock = {
    monoMs: () => 0,
    wakeAt: (_: number, wake: () => void) => {
      ring = wake;
      return () => {};
    },
  };
  return { clock, ring: () => ring() };
}

describe('SHUT-05, REC-01: one end or replacement at a time', () => {
  it('a recovery is waited for, and nobody who is woken with it comes first', async () => {
    const exclusive = new Exclusive(() => 0);
    const { clock } = alarm();
    const release = exclusive.hold('recovery');
    exclusive.onFreed(() => void Promise.resolve().then(() => exclusive.tryHold('recovery')));
    const stop = exclusive.holdAfterRecovery('daemon stop', { clock, withinMs: 1 });
    const drain = exclusive.holdAfterRecovery('drain', { clock, withinMs: 1 });
    release();
    await stop;
    expect(exclusive.holder).toMatchObject({ verb: 'daemon stop' });
    await expect(drain).rejects.toMatchObject({ code: 'fence_busy', details: { holder: 'daemon stop' } });
  });

  it('but not for ever, and nobody else is waited for at all', async () => {
    const exclusive = new Exclusive(() => 0);
    const { clock, ring } = alarm();
    const release = exclusive.hold('recovery');
    const late = exclusive.holdAfterRecovery('daemon stop', { clock, withinMs: 1 });
    ring();
    await expect(late).rejects.toMatchObject({ code: 'fence_busy', details: { holder: 'recovery' } });
    release();
    expect(exclusive.holder).toBeUndefined();
    exclusive.hold('drain');
    await expect(exclusive.holdAfterRecovery('daemon stop', { clock, withinMs: 1 })).rejects.toThrow('drain');
  });

  it('one that is over in the moment in which its waiting ends is taken once, and can be given back', async () => {
    const exclusive = new Exclusive(() => 0);
    const { clock, ring } = alarm();
    const release = exclusive.hold('recovery');
    const stop = exclusive.holdAfterRecovery('daemon stop', { clock, withinMs: 1 });
    ring();
    release();
    (await stop)();
    expect(exclusive.holder).toBeUndefined();
  });

  it('a stop that comes while a worker is being replaced ends that one as well', async () => {
    const daemon = await workingDaemon().start();
    await ticked(daemon);
    const { scopeId } = await workerOf(daemon);
    signalVerified(startReceipt(daemon.scopeDir(scopeId))!.workload, 'SIGKILL');
    await daemon.event({ type: 'recovery.started' }, ({ payload }) => payload.reason !== 'worker_missing');
    const stopped = await daemon.call('daemon.stop', {});
    expect(stopped).toMatchObject({ stopped: true, blocked: [] });
    expect(await daemon.process.exited).toEqual({ code: 0, signal: null });
  });

  it('a recovery that has nobody to launch keeps no stop out', async () => {
    const daemon = await workingDaemon().start(failingDaemonCommand());
    await ticked(daemon);
    const { scopeId } = await stubborn(daemon, 'one');
    const worker = await workerOf(daemon);
    await killAt(daemon, { at: 'after_journal_insert', of: 'ownership.rescanned', next: 'after_commit' });
    signalVerified(startReceipt(daemon.scopeDir(worker.scopeId))!.workload, 'SIGKILL');
    await daemon.process.exited;
    killGuardian(startReceipt(daemon.scopeDir(scopeId))!.guardian);
    const store = openStore({ stateDir: daemon.home.stateDir, clock: calendarClock, create: false });
    recordIntent(store, { verb: 'stop', via: 'direct' });
    store.close();
    await daemon.start();
    const blocked = () =>
      eventually('the blocked stop', async () =>
        (await daemon.call('status', {})).lifecycle === 'drainBlocked' ? true : undefined,
      );
    await blocked();
    expect((await workerOf(daemon)).recovery.phase).toBe('launchPermitted');
    expect(await daemon.refusal('daemon.stop', {})).toMatchObject({ code: 'drain_blocked' });
    await daemon.call('resume', {});
    await eventually('a worker', async () => ((await workerOf(daemon)).state === 'ticking' ? true : undefined));
  });
});
