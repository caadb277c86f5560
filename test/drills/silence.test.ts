import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { turns } from '../guardian/support/fifo.ts';
import { inState, isAlive } from '../guardian/support/processes.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, stopGuardianAt } from '../support/daemonFailpoints.ts';
import { type Named, startReceipt } from '../support/daemonLeftovers.ts';
import { eventually } from '../support/eventually.ts';
import { continueGuardian, stopGuardian } from '../support/guardianPair.ts';
import { patienceMs } from '../support/patience.ts';

interface Silent {
  readonly goalId: string;
  readonly generationId: string;
  readonly runId: string;
  readonly scopeId: string;
  readonly guardian: Named;
  readonly workload: Named;
  readonly launches: string;
  readonly turn: ReturnType<typeof turns>;
}

/** A live run whose guardian has been stopped: the tree works on, and nobody answers for it. */
async function silentRun(daemon: TestDaemon): Promise<Silent> {
  const { goalId, generationId } = await daemon.goal();
  const turn = turns(daemon.home.dir);
  const launches = join(daemon.home.dir, 'launches');
  const script = `echo $$ >> "${launches}"; echo $$ > "${turn.paths[0]}"; read line < "${turn.paths[1]}"; exit 5`;
  const { runId, scopeId } = await daemon.exec(goalId, script);
  await turn.ready();
  const { guardian, workload } = startReceipt(daemon.scopeDir(scopeId))!;
  stopGuardian(guardian);
  onTestFinished(() => continueGuardian(guardian));
  await inState(guardian.pid, 'T');
  return { goalId, generationId, runId, scopeId: scopeId!, guardian, workload, launches, turn };
}

async function isShownAsUnresponsive(daemon: TestDaemon, { scopeId }: Silent): Promise<void> {
  const since = await eventually('the silence being shown', async () => {
    const { health } = await daemon.call('status', {});
    const scope = await daemon.scope(scopeId);
    return health.state === 'unresponsive' && scope.unresponsiveSince !== null ? scope.unresponsiveSince : undefined;
  });
  const again = await daemon.scope(scopeId);
  expect(again).toMatchObject({
    unresponsiveSince: since,
    assessment: { state: 'live' },
    coverage: 'live',
    holdsSlot: true,
  });
}

/** The guardian, the workload, and the one launch: as they were. */
function expectUntouched({ guardian, workload, launches }: Silent): void {
  expect([guardian, workload].map(({ pid }) => isAlive(pid))).toEqual([true, true]);
  expect(readFileSync(launches, 'utf8').trim().split('\n')).toEqual([String(workload.pid)]);
}

const impatient = { env: { CUSTODY_RESPONSE_MS: '50' } };

describe('D3 silence is not death (FAULT-12, OWN-04, linux case 23)', () => {
  it('a stopped guardian is unresponsive since …; nothing is launched, killed or dispatched again; it runs on after SIGCONT', async () => {
    const daemon = await testDaemon(impatient).start();
    const silent = await silentRun(daemon);
    await isShownAsUnresponsive(daemon, silent);
    const before = await daemon.events({ actor: silent.scopeId });
    await daemon.restart();
    await isShownAsUnresponsive(daemon, silent);
    await daemon.restart('SIGTERM');
    await isShownAsUnresponsive(daemon, silent);
    await daemon.call('worktrees.close', { id: silent.generationId });
    const seal = await daemon.refusal('worktrees.seal', { id: silent.generationId });
    expect(seal).toMatchObject({ code: 'seal_refused', exitCode: 13 });
    expect(JSON.stringify(seal.details)).toContain(silent.scopeId);
    expectUntouched(silent);
    // Alive and silent are two facts (ruling 9): the first is journaled once, the second moves nothing.
    const after = await daemon.events({ actor: silent.scopeId });
    const news = after.slice(before.length).map(({ type, payload }) => [type, payload.result]);
    expect(news.filter(([type, result]) => type !== 'guardian.observed' || result !== 'alive')).toEqual([]);
    continueGuardian(silent.guardian);
    await eventually('health', async () =>
      (await daemon.call('status', {})).health.state === 'ok' ? true : undefined,
    );
    expect(await daemon.scope(silent.scopeId)).toMatchObject({
      guardianPid: silent.guardian.pid,
      unresponsiveSince: null,
    });
    await silent.turn.release();
    expect(await daemon.proved(silent.runId)).toMatchObject({
      result: { how: 'exited', code: 5 },
      scope: { state: 'exited' },
    });
  });

  it('a stop stalls visibly with exit code 5, the daemon does not stop, and both succeed after SIGCONT (SHUT-06)', async () => {
    const daemon = await testDaemon({ env: { ...impatient.env, CUSTODY_SHUTDOWN_BUDGET_MS: '3000' } }).start();
    const silent = await silentRun(daemon);
    const stopped = await daemon.attempt('runs.stop', { id: silent.runId, graceMs: 0, budgetMs: 200 });
    expect(stopped).toMatchObject({
      ok: true,
      exitCode: 5,
      data: { outcome: 'stalled', assessment: { state: 'live' } },
    });
    const [failure] = await daemon.events({ actor: silent.scopeId, type: 'drain.inspectionFailed' });
    expect(failure?.payload).toMatchObject({ reasonCode: 'guardian_unresponsive' });
    expectUntouched(silent);
    const refused = await daemon.refusal('daemon.stop', {});
    expect(refused).toMatchObject({ code: 'drain_blocked', exitCode: 6, details: { blocked: [silent.scopeId] } });
    expectUntouched(silent);
    continueGuardian(silent.guardian);
    const again = await daemon.attempt('runs.stop', { id: silent.runId, graceMs: 0, waitMs: patienceMs });
    expect(again).toMatchObject({
      ok: true,
      exitCode: 0,
      data: { assessment: { state: 'exited', proof: 'own_receipt' } },
    });
    expect(await daemon.call('daemon.stop', {})).toMatchObject({ stopped: true, blocked: [] });
    expect((await daemon.process.exited).code).toBe(0);
  });

  it('the work ends behind the silence: ended by the kernel, not proved, and proved by the late receipt', async () => {
    const daemon = await testDaemon(impatient).start();
    const silent = await silentRun(daemon);
    await isShownAsUnresponsive(daemon, silent);
    await silent.turn.release();
    const ended = await daemon.ended(silent.runId);
    expect(ended).toMatchObject({
      state: 'ended',
      result: null,
      end: { evidence: 'kernel_observation' },
      scope: { state: 'live' },
    });
    expect(existsSync(join(daemon.scopeDir(silent.scopeId), 'exit.json'))).toBe(false);
    continueGuardian(silent.guardian);
    expect(await daemon.proved(silent.runId)).toMatchObject({
      result: { how: 'exited', code: 5 },
      end: { evidence: 'kernel_observation' },
      scope: { state: 'exited', proof: 'own_receipt' },
    });
  });

  it('a guardian that is stopped in its handshake: nothing ran, and a stop answers when nobody is left (ruling 4)', async () => {
    const daemon = testDaemon({ env: { ...impatient.env, CUSTODY_HANDSHAKE_MS: '1000' } });
    await daemon.start(failingDaemonCommand());
    const { goalId, generationId } = await daemon.goal();
    // The containment check has guardians of its own.
    await daemon.event({ actor: generationId, type: 'contract.verified' });
    const ran = join(daemon.home.dir, 'ran');
    const stopped = await stopGuardianAt(daemon, { at: 'before handshake', next: 'spawned' });
    const refusal = daemon.refusal('runs.exec', daemon.launchArguments(goalId, `touch "${ran}"`));
    await stopped.reached();
    const { actor: run } = await daemon.event({ type: 'run.reserved' });
    const reply = await daemon.attempt('runs.stop', { id: run.id });
    expect(reply).toMatchObject({ ok: true, exitCode: 0, data: { outcome: 'never_launched' } });
    expect(childrenOf(daemon.pid)).toEqual([]);
    expect((await refusal).code).toMatch(/^(launch_abandoned|handshake_timeout)$/);
    expect(existsSync(ran)).toBe(false);
    expect(await daemon.ended(run.id)).toMatchObject({ state: 'cancelled' });
  });
});

const childrenOf = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
