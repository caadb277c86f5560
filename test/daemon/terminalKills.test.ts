/** Holders of terminals that are silent, gone or in the way, and daemons that die under them. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inState, isGone } from '../guardian/support/processes.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { type Failpoint, failingDaemonCommand, holdAt, killAt } from '../support/daemonFailpoints.ts';
import { type Named, signalVerified } from '../support/daemonLeftovers.ts';
import { continueGuardian, stopGuardian } from '../support/guardianPair.ts';
import { patienceMs } from '../support/patience.ts';
import { guardianOf, opened, over, ptyHostOf, runFile, shows, size, typed } from './support/terminals.ts';

const quick = { env: { CUSTODY_GRACE_MS: '0' } };

/** A guardian or a holder, stopped until the test is over, or until it is let go on. */
async function stopped(named: Named): Promise<() => void> {
  stopGuardian(named);
  const goOn = (): void => continueGuardian(named);
  onTestFinished(goOn);
  await inState(named.pid, 'T');
  return goOn;
}

describe('D3 silence is not death (ruling 9)', () => {
  it('of the PTY host: what is committed is listed, no second host comes, and it goes on where it was', async () => {
    const daemon = await testDaemon().start();
    const { sessionId } = await opened(daemon, 'echo here; while read line; do echo "got $line"; done');
    await shows(daemon, sessionId, 'here');
    const holder = ptyHostOf(daemon);
    const goOn = await stopped(holder);
    expect(await daemon.call('sessions.list', {})).toMatchObject({
      sessions: [{ sessionId, workload: 'running.working', capture: 'capturing' }],
    });
    await daemon.restart();
    expect(await daemon.call('sessions.show', { id: sessionId })).toMatchObject({
      workload: 'running.working',
      capture: 'capturing',
      missing: null,
    });
    const silent = { code: 'pty_host_unresponsive', exitCode: 10, retryable: true };
    expect(await daemon.refusal('sessions.send', { id: sessionId, bytes: '', enter: true })).toMatchObject(silent);
    const { goalId } = await daemon.goal();
    const launch = { ...daemon.launchArguments(goalId, 'true'), terminal: size };
    expect(await daemon.refusal('runs.exec', launch)).toMatchObject(silent);
    expect(ptyHostOf(daemon)).toEqual(holder);
    goOn();
    // Nobody opens a session or asks for one: the daemon finds the host again by itself.
    const seen = async () => (await daemon.call('sessions.show', { id: sessionId })).hostSocket;
    await expect.poll(seen, { timeout: patienceMs }).not.toBeNull();
    await typed(daemon, sessionId, 'again');
    await shows(daemon, sessionId, 'got again');
    expect(ptyHostOf(daemon)).toEqual(holder);
    await daemon.call('sessions.send', {
      id: sessionId,
      bytes: Buffer.from('\x04').toString('base64'),
      paste: 'never',
    });
    expect(await over(daemon, sessionId)).toMatchObject({
      capture: 'complete',
      result: { code: 0 },
      firstFailure: null,
    });
  });

  it('of a guardian: its terminal works on, and it ends as it ends', async () => {
    const daemon = await testDaemon().start();
    const { sessionId, scopeId, runId } = await opened(daemon, 'echo here; read line; echo "got $line"; exit 5');
    await shows(daemon, sessionId, 'here');
    const guardian = guardianOf(daemon, scopeId);
    const goOn = await stopped(guardian);
    await daemon.restart();
    await typed(daemon, sessionId, 'something');
    await shows(daemon, sessionId, 'got something');
    expect(guardianOf(daemon, scopeId)).toEqual(guardian);
    expect(await daemon.call('sessions.show', { id: sessionId })).toMatchObject({
      capture: 'capturing',
      scope: 'unsettled',
    });
    goOn();
    expect(await over(daemon, sessionId)).toMatchObject({ capture: 'complete', result: { code: 5 } });
    expect(await daemon.proved(runId)).toMatchObject({ scope: { state: 'exited' } });
  });
});

const points: readonly Failpoint[] = [
  { at: 'before reserve commit' },
  { at: 'after reserve commit' },
  { at: 'before handshake' },
  { at: 'after handshake' },
  { at: 'before release commit' },
  { at: 'after release commit' },
  { at: 'before gate' },
  { at: 'after gate' },
];

const ranFile = (daemon: TestDaemon, runId: string): string => join(daemon.home.dir, `ran-${runId}`);
const ran = (daemon: TestDaemon): string => `echo $$ >> "${daemon.home.dir}/ran-$CUSTODY_RUN"; exec cat`;

/** Nothing of it is left, nothing ran without a committed release or twice, and the session is over in all three respects. */
async function expectSettled(daemon: TestDaemon, runId: string): Promise<{ readonly missing: string | null }> {
  const { scopeId } = await daemon.proved(runId);
  const [session] = (await daemon.call('sessions.list', { all: true })).sessions.filter((one) => one.runId === runId);
  const settled = await over(daemon, session!.sessionId);
  expect(settled).toMatchObject({ scope: 'proved' });
  const types = (await daemon.events({ actor: scopeId! })).map(({ type }) => type);
  const launches = existsSync(ranFile(daemon, runId))
    ? readFileSync(ranFile(daemon, runId), 'utf8').trim().split('\n').length
    : 0;
  expect(launches).toBeLessThanOrEqual(types.includes('launch.releaseCommitted') ? 1 : 0);
  return settled;
}

describe('D10 for a terminal: an end that is asked for at any step of the launch', () => {
  it.each(
    points.flatMap((point) => [
      { ...point, verb: 'stop' },
      { ...point, verb: 'cancel' },
    ]),
  )('$verb, $at', async ({ verb, ...point }) => {
    const daemon = await testDaemon(quick).start(failingDaemonCommand());
    const { goalId } = await daemon.goal();
    const held = await holdAt(daemon, point);
    const exec = daemon.attempt('runs.exec', { ...daemon.launchArguments(goalId, ran(daemon)), terminal: size });
    await held.reached();
    const [run] = (await daemon.call('runs.list', { goalId })).runs;
    const asked =
      verb === 'cancel'
        ? daemon.attempt('goals.cancel', { id: goalId, waitMs: patienceMs })
        : run && daemon.attempt('runs.stop', { id: run.runId, waitMs: patienceMs });
    if (run !== undefined) expect(await asked).toMatchObject({ ok: true, exitCode: 0 });
    await held.letGo();
    const reply = await exec;
    if (!reply.ok) expect(['launch_abandoned', 'not_released', 'preconditions_unmet']).toContain(reply.error.code);
    await asked;
    const [after] = (await daemon.call('runs.list', { goalId })).runs;
    if (after === undefined) return;
    if (run === undefined && verb === 'stop') await daemon.call('runs.stop', { id: after.runId, waitMs: patienceMs });
    expect((await expectSettled(daemon, after.runId)).missing, 'its holder was there all the time').not.toBe(
      'hostLost',
    );
  });
});

describe('a daemon that is killed in the course of a terminal launch (FAULT-09)', () => {
  it.each(points.slice(1))('$at: the terminal runs once or never, and is over', async (point) => {
    const daemon = await testDaemon(quick).start(failingDaemonCommand());
    const { goalId } = await daemon.goal();
    await killAt(daemon, point);
    const request = { ...daemon.launchArguments(goalId, ran(daemon)), terminal: size, requestId: 'the launch' };
    await expect(daemon.attempt('runs.exec', request)).rejects.toThrow();
    await daemon.process.exited;
    await daemon.start();
    const repeated = await daemon.attempt('runs.exec', request);
    const { runId } = (await daemon.call('runs.list', { goalId })).runs[0]!;
    if (repeated.ok) await daemon.attempt('runs.stop', { id: runId, waitMs: patienceMs });
    await expectSettled(daemon, runId);
  });
});

describe('what lies in the run directory', () => {
  const runs = async (daemon: TestDaemon) => {
    const { sessionId } = await opened(daemon, 'echo fine; exit 3');
    expect(await over(daemon, sessionId)).toMatchObject({ capture: 'complete', result: { code: 3 } });
  };

  it('of an earlier host, a socket that nobody serves and a record that is garbage, is replaced', async () => {
    const daemon = await testDaemon().start();
    await runs(daemon);
    const holder = ptyHostOf(daemon);
    signalVerified(holder, 'SIGKILL');
    await isGone(holder.pid);
    writeFileSync(runFile(daemon, 'pty-host.json'), '{"pid":"garbage"');
    await daemon.restart();
    await runs(daemon);
    expect(ptyHostOf(daemon)).not.toEqual(holder);
  });

  it('and is the record of a host that lives and cannot be reached, is believed, and the way out is named (ruling 9)', async () => {
    const daemon = await testDaemon().start();
    await opened(daemon, 'exec cat');
    const holder = ptyHostOf(daemon);
    await daemon.kill();
    rmSync(runFile(daemon, 'pty.sock'));
    await daemon.start();
    const { goalId } = await daemon.goal();
    const launch = { ...daemon.launchArguments(goalId, 'true'), terminal: size };
    const refusal = await daemon.refusal('runs.exec', launch);
    expect(refusal).toMatchObject({ code: 'pty_host_unresponsive', exitCode: 10 });
    expect(refusal.next.join('\n')).toMatch(new RegExp(`process ${holder.pid} .*pty-host.json`));
    expect(ptyHostOf(daemon)).toEqual(holder);
    signalVerified(holder, 'SIGKILL');
    await isGone(holder.pid);
    await runs(daemon);
  });

  it.each([
    ['of somebody who has the pid by now', { processToken: '1', adapterEvidence: '' }],
    ['of another boot', { bootId: 'another' }],
    ['of another installation', { installationId: 'another00000' }],
  ])('and is the record %s, keeps no terminal from being opened', async (_, bent) => {
    const daemon = await testDaemon().start();
    const other = await testDaemon().start();
    await opened(other, 'exec cat');
    const foreign = JSON.parse(readFileSync(runFile(other, 'pty-host.json'), 'utf8'));
    await runs(daemon);
    const { installationId } = JSON.parse(readFileSync(runFile(daemon, 'pty-host.json'), 'utf8'));
    const holder = ptyHostOf(daemon);
    signalVerified(holder, 'SIGKILL');
    await isGone(holder.pid);
    writeFileSync(runFile(daemon, 'pty-host.json'), JSON.stringify({ ...foreign, installationId, ...bent }));
    await runs(daemon);
  });

  it.each(['pty.sock', 'pty-host.json'])(
    'and is a directory in place of %s, is named, and with it gone terminals open',
    async (name) => {
      const daemon = await testDaemon().start();
      const { goalId } = await daemon.goal();
      mkdirSync(join(runFile(daemon, name), 'something'), { recursive: true });
      const refusal = await daemon.refusal('runs.exec', { ...daemon.launchArguments(goalId, 'true'), terminal: size });
      expect(refusal).toMatchObject({ code: 'pty_host_failed', exitCode: 10 });
      expect(refusal.message).toContain(name);
      const [session] = (await daemon.call('sessions.list', { all: true })).sessions;
      expect(await over(daemon, session!.sessionId)).toMatchObject({
        workload: 'final',
        firstFailure: { cause: 'launch' },
      });
      rmSync(runFile(daemon, name), { recursive: true });
      await runs(daemon);
    },
  );

  it('may have a longer name than the address of a socket holds (unix(7))', async () => {
    const daemon = await testDaemon({ name: 'x'.repeat(150) }).start();
    await runs(daemon);
    await daemon.restart();
    await runs(daemon);
  });
});

describe('a place for transcripts that cannot be written', () => {
  it('opens no terminal, says so by name, and leaves no session open', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const transcripts = join(daemon.home.stateDir, 'transcripts');
    rmSync(transcripts, { recursive: true });
    writeFileSync(transcripts, '');
    const refusal = await daemon.refusal('runs.exec', { ...daemon.launchArguments(goalId, 'true'), terminal: size });
    expect(refusal).toMatchObject({ code: 'spawn_failed' });
    const [session] = (await daemon.call('sessions.list', { all: true })).sessions;
    expect(await over(daemon, session!.sessionId)).toMatchObject({
      workload: 'final',
      firstFailure: { cause: 'launch' },
    });
  });
});
