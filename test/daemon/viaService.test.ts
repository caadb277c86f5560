/** SHUT-05: one drain for both ways of ending the daemon, and a service manager that is called only when all is proved. */
import { describe, expect, it } from 'vitest';
import { testDaemon } from '../support/daemon.ts';
import { startReceipt } from '../support/daemonLeftovers.ts';
import { daemonProgram } from '../support/daemonProcess.ts';
import { killGuardian } from '../support/guardianPair.ts';
import { serviceManager, writeUnit } from '../support/serviceManager.ts';
import { stubborn } from './support/stubborn.ts';

const served = [process.execPath, daemonProgram, '--service', 'custody.service'];

/** A daemon whose service manager is a fake; the program is found through the parameter. */
async function installed({ script = 'exit 0', isServed = true, hasUnit = true } = {}) {
  const daemon = testDaemon();
  const manager = serviceManager(daemon.home.dir, script);
  const home = { ...daemon.home, env: { ...daemon.home.env, CUSTODY_SERVICE_MANAGER: manager.program } };
  Object.assign(daemon, { home });
  if (hasUnit) writeUnit(home.dir);
  await (isServed ? daemon.start(served) : daemon.start());
  return { daemon, manager };
}

describe('SHUT-05: a daemon that a service manager has started', () => {
  it.each(['stop', 'restart'] as const)(
    '%s: is drained, then the service manager is told, then it leaves',
    async (verb) => {
      const { daemon, manager } = await installed();
      const { runId, scopeId } = await stubborn(daemon, 'one');
      expect(await daemon.call('daemon.stop', { verb })).toMatchObject({
        stopped: true,
        settled: [scopeId],
        via: 'service',
        isLeftToService: verb === 'restart',
      });
      expect(await daemon.process.exited).toEqual({ code: 0, signal: null });
      expect(manager.calls()).toEqual([`--user ${verb} --no-block custody.service`]);
      await daemon.start();
      expect(await daemon.call('runs.show', { id: runId })).toMatchObject({ scope: { proof: 'own_receipt' } });
      expect(await daemon.call('status', {})).toMatchObject({ lifecycle: 'serving', admission: 'open' });
    },
  );

  it.each(['stop', 'restart'] as const)('%s: with anything unverified it is not called (exit 6)', async (verb) => {
    const { daemon, manager } = await installed();
    const { scopeId } = await stubborn(daemon, 'one');
    killGuardian(startReceipt(daemon.scopeDir(scopeId))!.guardian);
    for (const via of [undefined, 'service', 'direct'] as const) {
      const refusal = await daemon.refusal('daemon.stop', { verb, via });
      expect(refusal).toMatchObject({ code: 'drain_blocked', exitCode: 6, details: { blocked: [scopeId] } });
    }
    expect(manager.calls()).toEqual([]);
    expect(await daemon.call('status', {})).toMatchObject({ lifecycle: 'drainBlocked' });
  });

  it('that does not take the order: the daemon leaves all the same, and says so', async () => {
    const { daemon } = await installed({ script: 'echo "Failed to connect to bus: No medium found" >&2; exit 1' });
    expect(await daemon.attempt('daemon.stop', { verb: 'restart' })).toMatchObject({
      ok: true,
      data: { stopped: true, isLeftToService: false },
      warnings: ['the service manager did not take the order: Failed to connect to bus: No medium found'],
    });
    expect(await daemon.process.exited).toEqual({ code: 0, signal: null });
  });

  it('is replaced under its work by its own exit status, without a call that might end the work (ruling 21)', async () => {
    const { daemon, manager } = await installed();
    const { runId } = await stubborn(daemon, 'one');
    expect(await daemon.call('daemon.stop', { keepWork: true, verb: 'restart' })).toMatchObject({
      settled: [],
      isLeftToService: true,
    });
    expect(await daemon.process.exited).toEqual({ code: 75, signal: null });
    await daemon.start(served);
    expect(await daemon.call('runs.show', { id: runId })).toMatchObject({ state: 'bound', scope: { state: 'live' } });
    await daemon.call('daemon.stop', { keepWork: true });
    expect(await daemon.process.exited).toEqual({ code: 0, signal: null });
    expect(manager.calls()).toEqual([]);
  });
});

describe('SHUT-05: a daemon that somebody else has started', () => {
  it('is not ended through a service manager that does not know it, and serves on (exit 8)', async () => {
    const { daemon, manager } = await installed({ isServed: false, hasUnit: false });
    const { scopeId } = await stubborn(daemon, 'one');
    for (const keepWork of [false, true])
      expect(await daemon.refusal('daemon.stop', { via: 'service', keepWork })).toMatchObject({
        code: 'no_service',
        exitCode: 8,
        next: ['custody service install', expect.any(String)],
      });
    writeUnit(daemon.home.dir, '[Service]\nExecStart=/usr/bin/custody\n');
    expect(await daemon.refusal('daemon.stop', { via: 'service' })).toMatchObject({ code: 'no_service' });
    expect(await daemon.call('status', {})).toMatchObject({ lifecycle: 'serving', admission: 'open' });
    expect(await daemon.scope(scopeId)).toMatchObject({ assessment: { state: 'live' } });
    expect(await daemon.call('daemon.stop', {})).toMatchObject({ via: 'direct', isLeftToService: false });
    expect(manager.calls()).toEqual([]);
  });

  it('can be handed over to the one that is installed', async () => {
    const { daemon, manager } = await installed({ isServed: false });
    const handed = await daemon.call('daemon.stop', { verb: 'restart', via: 'service' });
    expect(handed).toMatchObject({ via: 'service', isLeftToService: true });
    expect(manager.calls()).toEqual(['--user restart --no-block custody.service']);
  });
});
