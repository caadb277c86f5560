import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { placesOf, readRendezvous } from '../../actors/runtime/places.ts';
import { turns } from '../guardian/support/fifo.ts';
import { isAlive } from '../guardian/support/processes.ts';
import { testDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, holdAt } from '../support/daemonFailpoints.ts';
import { startReceipt } from '../support/daemonLeftovers.ts';

describe('a daemon that leaves (ruling 21)', () => {
  it('does not stay for those who wait for a run: they are told to ask its successor', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const { runId, scopeId } = await daemon.exec(goalId, 'exec sleep 600');
    const waiting = daemon.attempt('runs.wait', { id: runId, until: 'proved' });
    await daemon.call('daemon.stop', { keepWork: true });
    expect(await daemon.process.exited).toEqual({ code: 0, signal: null });
    expect(await waiting).toMatchObject({
      ok: false,
      error: { code: 'daemon_leaving', exitCode: 10, retryable: true },
    });
    expect(isAlive(startReceipt(daemon.scopeDir(scopeId))!.workload.pid)).toBe(true);
  });

  it('does not stay for the grace of a drain: the guardian goes on, and the successor joins it', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const turn = turns(daemon.home.dir);
    const { runId } = await daemon.exec(
      goalId,
      `trap '' TERM; echo $$ > "${turn.paths[0]}"; while read line < "${turn.paths[1]}"; do exit 3; done`,
    );
    await turn.ready();
    await daemon.call('runs.stop', { id: runId, graceMs: 600_000, waitMs: 0 });
    await daemon.kill('SIGTERM');
    await daemon.start();
    await turn.release();
    expect(await daemon.proved(runId)).toMatchObject({ result: { code: 3 } });
  });

  it('carries a launch to its end whose caller has left', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { goalId } = await daemon.goal();
    const exec = daemon.launchArguments(goalId, 'exit 3', { requestId: 'once' });
    const held = await holdAt(daemon, { at: 'before release commit' });
    const { socket } = readRendezvous(placesOf({ stateDir: daemon.home.stateDir, env: {} }))!;
    const headers = { authorization: `Custody ${daemon.credential}` };
    const caller = request({ socketPath: socket, method: 'POST', path: '/v1/call/runs.exec', headers });
    caller.on('error', () => {}).end(JSON.stringify(exec));
    await held.reached();
    caller.destroy();
    await daemon.call('daemon.stop', { keepWork: true });
    await held.letGo();
    await daemon.process.exited;
    await daemon.start();
    const { runId } = await daemon.call('runs.exec', exec);
    expect(await daemon.proved(runId)).toMatchObject({ result: { how: 'exited', code: 3 } });
  });

  it('SHUT-06, SHUT-10: a launch that was admitted before the stop is found by it', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { goalId } = await daemon.goal();
    const held = await holdAt(daemon, { at: 'after slots' });
    const launching = daemon.attempt('runs.exec', daemon.launchArguments(goalId, 'exec sleep 600'));
    await held.reached();
    const stopping = daemon.attempt('daemon.stop', {});
    expect(await daemon.call('status', {})).toMatchObject({ admission: 'closed' });
    await held.letGo();
    const stopped = await stopping;
    await launching;
    expect(stopped).toMatchObject({ ok: true, data: { stopped: true, settled: [expect.any(String)] } });
    await daemon.process.exited;
    await daemon.start();
    expect((await daemon.call('processes', {})).scopes).toEqual([]);
  });
});
