import { describe, expect, it } from 'vitest';
import { type ExecOptions, type TestDaemon, testDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, holdAt, killGuardianAt } from '../support/daemonFailpoints.ts';
import { startReceipt } from '../support/daemonLeftovers.ts';
import { killGuardian } from '../support/guardianPair.ts';

const requestId = 'once';

/** Asks for the same launch, with the same id, and is refused. */
const refusal = (daemon: TestDaemon, goalId: string, options: ExecOptions = {}) =>
  daemon.refusal('runs.exec', daemon.launchArguments(goalId, 'true', { requestId, ...options }));

describe('STOP-08: a repeated request whose launch never ran', () => {
  it('is refused as the first was, also by the next daemon', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { goalId } = await daemon.goal();
    const held = await holdAt(daemon, { at: 'before handshake' });
    const refused = refusal(daemon, goalId);
    await held.reached();
    const [requested] = await daemon.events({ type: 'run.reserved' });
    await daemon.call('runs.stop', { id: String(requested!.payload.runId) });
    await held.letGo();
    const first = await refused;
    expect(first).toMatchObject({ code: 'launch_abandoned', exitCode: 13, retryable: false });
    expect(await refusal(daemon, goalId)).toEqual(first);
    await daemon.restart();
    expect(await refusal(daemon, goalId)).toEqual(first);
  });

  it('is told again that its command cannot be executed', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const first = await refusal(daemon, goalId, { argv: ['/nothing/here'] });
    expect(first).toMatchObject({ code: 'exec_failed', exitCode: 13 });
    expect(await refusal(daemon, goalId, { argv: ['/nothing/here'] })).toEqual(first);
  });
});

describe('section F: exit code 5 as soon as it is known that nobody vouches for what was started', () => {
  it('when the guardian died at the gate', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { goalId } = await daemon.goal();
    await killGuardianAt(daemon, { at: 'before gate' });
    const reply = await daemon.attempt('runs.exec', daemon.launchArguments(goalId, 'exec sleep 600'));
    expect(reply).toMatchObject({ ok: true, exitCode: 5 });
    expect(JSON.stringify(reply)).toContain('was not confirmed open (release_uncertain)');
  });

  it('when it was confirmed open, and its guardian is missed before the answer', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { goalId } = await daemon.goal();
    const held = await holdAt(daemon, { at: 'after gate' });
    const args = daemon.launchArguments(goalId, 'exec sleep 600', { requestId });
    const answer = daemon.attempt('runs.exec', args);
    await held.reached();
    const [requested] = await daemon.events({ type: 'run.reserved' });
    const scopeId = String(requested!.payload.rootScopeId);
    killGuardian(startReceipt(daemon.scopeDir(scopeId))!.guardian);
    await daemon.event({ actor: scopeId, type: 'guardian.observed' }, ({ payload }) => payload.result === 'absent');
    await held.letGo();
    const named = { ok: true, exitCode: 5, warnings: [`the tree of ${scopeId} is not proved (gap): guardian_gone`] };
    expect(await answer).toMatchObject(named);
    expect(await daemon.attempt('runs.exec', args)).toMatchObject(named);
  });
});
