/** A guardian of which one process is killed (linux case 22): what the daemon makes of the half that is left. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { holdInShell, turns } from '../guardian/support/fifo.ts';
import { expectWhole, halves, loseHalf } from '../guardian/support/halves.ts';
import { innerScope } from '../guardian/support/nestedScopes.ts';
import { inState, isAlive, isGone } from '../guardian/support/processes.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, holdAt } from '../support/daemonFailpoints.ts';
import { signalVerified, startReceipt } from '../support/daemonLeftovers.ts';
import { continueGuardian, stopGuardian } from '../support/guardianPair.ts';
import { opened, over, recorded, shows, typed } from './support/terminals.ts';

/** A run that is held, and whose guardian has lost one half. */
async function halved(daemon: TestDaemon, half: (typeof halves)[number]) {
  const { goalId } = await daemon.goal();
  const turn = turns(daemon.home.dir);
  const script = `echo $$ > "${turn.paths[0]}"; read line < "${turn.paths[1]}"; exit 6`;
  const { runId, scopeId } = await daemon.exec(goalId, script);
  await turn.ready();
  const { left } = await loseHalf(startReceipt(daemon.scopeDir(scopeId))!.guardian.pid, half);
  return { goalId, runId, scopeId: scopeId!, left, release: turn.release };
}

const looks = async (daemon: TestDaemon, scopeId: string) =>
  (await daemon.events({ actor: scopeId, type: 'guardian.observed' })).map(({ payload }) => payload.result);

describe('22 the worker of a guardian is killed', () => {
  it('nobody notices: the recorded guardian lives, and status and proof come as ever, also after a restart', async () => {
    const daemon = await testDaemon().start();
    const { runId, scopeId, release } = await halved(daemon, 'worker');
    await daemon.restart();
    expect(await daemon.scope(scopeId)).toMatchObject({ assessment: { state: 'live' }, unresponsiveSince: null });
    await release();
    expect(await daemon.proved(runId)).toMatchObject({
      result: { how: 'exited', code: 6 },
      scope: { state: 'exited', proof: 'own_receipt' },
    });
    expect(await looks(daemon, scopeId)).not.toContain('absent');
  });
});

describe('22 the witness of a guardian is killed', () => {
  const missed = async (daemon: TestDaemon, scopeId: string) => {
    await daemon.event({ actor: scopeId, type: 'guardian.observed' }, ({ payload }) => payload.result === 'absent');
    expect(await daemon.scope(scopeId)).toMatchObject({
      assessment: { state: 'unverified', certainty: 'gap', reason: 'guardian_gone' },
      holdsSlot: true,
    });
  };

  it('the recorded guardian is missed; the gap is closed by the receipt of its worker, with the status (RCPT-05)', async () => {
    const daemon = await testDaemon().start();
    const { goalId, runId, scopeId, release } = await halved(daemon, 'witness');
    await missed(daemon, scopeId);
    await release();
    expect(await daemon.proved(runId)).toMatchObject({
      result: { how: 'exited', code: 6 },
      scope: { state: 'exited', proof: 'own_receipt' },
    });
    const next = await daemon.exec(goalId, 'exit 3');
    expect(await daemon.proved(next.runId)).toMatchObject({ result: { code: 3 } });
  });

  it('a stop is still carried out by its guardian, and proved', async () => {
    const daemon = await testDaemon().start();
    const { runId, scopeId, left } = await halved(daemon, 'witness');
    await missed(daemon, scopeId);
    expect(await daemon.attempt('runs.stop', { id: runId, graceMs: 50 })).toMatchObject({
      ok: true,
      exitCode: 0,
      data: { outcome: 'proved', assessment: { state: 'exited', proof: 'own_receipt' } },
    });
    await isGone(left.pid);
  });
});

describe('22 the witness of a guardian is killed, and a drain by its worker stalls', () => {
  it('is asked for again as long as the worker answers (L-02)', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const [work, order, end] = ['work', 'order', 'end'].map((name) => turns(daemon.home.dir, name));
    const script = `trap '' TERM; read line < '${order!.paths[1]}'; eval "$line" & ${holdInShell(end!)}`;
    const { runId, scopeId } = await daemon.exec(goalId, script);
    const argv = ['sh', '-c', holdInShell(work!)];
    const inner = await innerScope(join(daemon.home.dir, 'inner'), daemon.scopeDir(scopeId), { argv });
    await writeFile(order!.paths[1], `${inner.command}\n`);
    await work!.ready();
    await end!.ready();
    const { guardian } = startReceipt(inner.directory)!;
    stopGuardian(guardian);
    await loseHalf(startReceipt(daemon.scopeDir(scopeId))!.guardian.pid, 'witness');
    expect(await daemon.attempt('runs.stop', { id: runId, graceMs: 0, budgetMs: 400 })).toMatchObject({
      ok: true,
      data: { outcome: 'stopped_unverified' },
    });
    continueGuardian(guardian);
    await daemon.event({ actor: scopeId!, type: 'guardian.exitReceipt' });
    expect(await daemon.proved(runId)).toMatchObject({ scope: { state: 'exited', proof: 'own_receipt' } });
  });
});

describe('22 the witness of a guardian is killed, and its worker is stopped', () => {
  it('silence is no absence: nobody of the tree is signalled past it, and a later stop is proved (ruling 9, SHUT-03)', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_RESPONSE_MS: '500' } }).start();
    const { runId, scopeId, left } = await halved(daemon, 'witness');
    const { workload } = startReceipt(daemon.scopeDir(scopeId))!;
    signalVerified(left, 'SIGSTOP');
    await inState(left.pid, 'T');
    expect(await daemon.attempt('runs.stop', { id: runId, graceMs: 0 })).toMatchObject({ ok: true, exitCode: 5 });
    const [failure] = await daemon.events({ actor: scopeId, type: 'drain.inspectionFailed' });
    expect(failure?.payload).toMatchObject({ reasonCode: 'guardian_unresponsive' });
    expect(isAlive(workload.pid)).toBe(true);
    signalVerified(left, 'SIGCONT');
    expect(await daemon.attempt('runs.stop', { id: runId, graceMs: 0 })).toMatchObject({
      ok: true,
      exitCode: 0,
      data: { assessment: { state: 'exited', proof: 'own_receipt' } },
    });
  });
});

describe.each(halves)('22 the %s of a guardian is killed', (half) => {
  it('with a terminal: it works on, and its output is complete (PTY-07)', async () => {
    const daemon = await testDaemon().start();
    const { sessionId, scopeId, runId } = await opened(daemon, 'echo here; read line; echo "got $line"; exit 5');
    await shows(daemon, sessionId, 'here');
    await loseHalf(startReceipt(daemon.scopeDir(scopeId))!.guardian.pid, half);
    await typed(daemon, sessionId, 'something');
    expect(await over(daemon, sessionId)).toMatchObject({ capture: 'complete', result: { code: 5 } });
    expect(recorded(daemon, sessionId)).toContain('got something');
    expect(await daemon.proved(runId)).toMatchObject({ scope: { state: 'exited', proof: 'own_receipt' } });
  });

  it('before the release: it is released whole or has never run (GRD-06)', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { goalId } = await daemon.goal();
    const ran = join(daemon.home.dir, 'ran');
    const held = await holdAt(daemon, { at: 'before release commit' });
    const exec = daemon.attempt('runs.exec', daemon.launchArguments(goalId, `: > "${ran}"; exit 4`));
    await held.reached();
    const [requested] = await daemon.events({ type: 'run.reserved' });
    const scopeDir = daemon.scopeDir(String(requested!.payload.rootScopeId));
    await loseHalf(startReceipt(scopeDir)!.guardian.pid, half);
    await held.letGo();
    await exec;
    const exit = await expectWhole(scopeDir);
    const runId = String(requested!.payload.runId);
    expect(await daemon.proved(runId)).toMatchObject({ scope: { state: 'exited' } });
    expect(existsSync(ran)).toBe(exit.how !== 'notReleased');
    if (half === 'worker') expect(exit.how).toBe('notReleased');
  });
});
