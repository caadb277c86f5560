import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../actors/daemon/api/views.ts';
import { turns } from '../guardian/support/fifo.ts';
import { isAlive, isGone } from '../guardian/support/processes.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { type Failpoint, failingDaemonCommand, holdAt, killGuardianAt } from '../support/daemonFailpoints.ts';
import { signalVerified, startReceipt } from '../support/daemonLeftovers.ts';
import { killGuardian, loseGuardian } from '../support/guardianPair.ts';

const ranFile = (daemon: TestDaemon) => join(daemon.home.dir, 'ran');

describe('SIGKILL of the guardian before the release (GRD-06, linux case 24)', () => {
  it.each([
    { at: 'before handshake', next: 'spawned' },
    { at: 'before handshake', next: 'frame sent' },
  ])('$next: it never ran, the run is cancelled, and the Goal goes on', async (point) => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { goalId } = await daemon.goal();
    await killGuardianAt(daemon, point);
    // The containment check starts guardians of its own meanwhile: none of them is the one that is lost.
    const checking = daemon.call('contract.verify', {});
    await expectNeverRan(
      daemon,
      daemon.refusal('runs.exec', daemon.launchArguments(goalId, `touch "${ranFile(daemon)}"`)),
    );
    expect(await checking).toMatchObject({ passed: true });
    const next = await daemon.exec(goalId, 'exit 3');
    expect(await daemon.proved(next.runId)).toMatchObject({ result: { code: 3 } });
  });

  it.each([{ at: 'after handshake' }, { at: 'before release commit' }])(
    '$at: it is missed before anything is released',
    async (point) => {
      const daemon = await testDaemon().start(failingDaemonCommand());
      const { goalId } = await daemon.goal();
      const held = await holdAt(daemon, point);
      const refusal = daemon.refusal('runs.exec', daemon.launchArguments(goalId, `touch "${ranFile(daemon)}"`));
      await held.reached();
      const [requested] = await daemon.events({ type: 'run.reserved' });
      const { guardian, workload } = startReceipt(daemon.scopeDir(String(requested!.payload.rootScopeId)))!;
      await loseGuardian(guardian);
      await isGone(workload.pid);
      await held.letGo();
      await expectNeverRan(daemon, refusal);
    },
  );
});

async function expectNeverRan(daemon: TestDaemon, refusing: Promise<ApiError>): Promise<void> {
  const refusal = await refusing;
  expect(refusal.code).toMatch(/^(guardian_died|launch_abandoned|process_gone)$/);
  const { runId } = refusal.details as { runId: string };
  expect(await daemon.proved(runId)).toMatchObject({
    state: 'cancelled',
    scope: { state: 'exited', proof: 'never_launched' },
  });
  expect(existsSync(ranFile(daemon))).toBe(false);
  expect((await daemon.call('status', {})).capacity.used).toBe(0);
}

interface Lost {
  readonly goalId: string;
  readonly generationId: string;
  readonly runId: string;
  readonly scopeId: string;
}

/** What holds for ever after a guardian was lost behind an open gate, whatever became of its tree. */
async function expectUnverified(daemon: TestDaemon, { goalId, runId, scopeId }: Lost): Promise<void> {
  const waited = await daemon.attempt('runs.wait', { id: runId, until: 'proved' });
  const gap = { state: 'unverified', certainty: 'gap', reason: 'guardian_gone' };
  expect(waited).toMatchObject({ ok: true, exitCode: 5, data: { scope: gap } });
  const status = await daemon.attempt('status', {});
  expect(status).toMatchObject({
    exitCode: 5,
    data: { health: { state: 'ownership_unverified' }, capacity: { scopeIds: [scopeId] } },
  });
  const refusal = await daemon.refusal('runs.exec', daemon.launchArguments(goalId, 'true'));
  expect(refusal).toMatchObject({ code: 'ownership_unverified', exitCode: 6, details: { scopeId } });
}

async function expectNoSeal(daemon: TestDaemon, { generationId, scopeId }: Lost): Promise<void> {
  await daemon.call('worktrees.close', { id: generationId });
  const refusal = await daemon.refusal('worktrees.seal', { id: generationId });
  expect(refusal).toMatchObject({ code: 'seal_refused', exitCode: 13 });
  expect(JSON.stringify(refusal.details)).toContain(scopeId);
}

describe('SIGKILL of the guardian after the release (GRD-07, GRD-10, STOP-03, linux case 20)', () => {
  it.each([{ at: 'before gate' }, { at: 'before gate', next: 'gate byte' }, { at: 'after gate' }])(
    '$at $next: an unverified gap that no absence and no restart closes (OWN-04, OWN-09, RCPT-05)',
    async (point: Failpoint) => {
      const daemon = await testDaemon().start(failingDaemonCommand());
      const goal = await daemon.goal();
      await killGuardianAt(daemon, point);
      const { runId, scopeId } = await daemon.exec(goal.goalId, `touch "${ranFile(daemon)}"; exec sleep 600`);
      const lost: Lost = { ...goal, runId, scopeId: scopeId! };
      await expectUnverified(daemon, lost);
      const stopped = await daemon.attempt('runs.stop', { id: runId, graceMs: 0 });
      expect(stopped).toMatchObject({ ok: true, exitCode: 5, data: { outcome: 'stopped_unverified' } });
      expect(await daemon.ended(runId)).toMatchObject({ state: 'ended', end: { evidence: 'kernel_observation' } });
      if (point.at === 'before gate' && point.next === undefined) expect(existsSync(ranFile(daemon))).toBe(false);
      await daemon.restart();
      await expectUnverified(daemon, lost);
      await expectNoSeal(daemon, lost);
    },
  );

  it('running: the work goes on alone, a stop ends it by verified identity and claims nothing (GRD-11, SHUT-06)', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_CAPACITY: '2', CUSTODY_SHUTDOWN_BUDGET_MS: '2000' } }).start();
    const goal = await daemon.goal();
    const turn = turns(daemon.home.dir);
    const { runId, scopeId } = await daemon.exec(goal.goalId, `echo $$ > "${turn.paths[0]}"; exec sleep 600`);
    await turn.ready();
    const lost: Lost = { ...goal, runId, scopeId: scopeId! };
    const { guardian, workload } = startReceipt(daemon.scopeDir(scopeId))!;
    killGuardian(guardian);
    await expectUnverified(daemon, lost);
    expect(isAlive(workload.pid)).toBe(true);
    expect(await daemon.call('runs.show', { id: runId })).toMatchObject({ state: 'bound', result: null });

    // One slot is held (OWN-02), and nobody else pays for it (OWN-10).
    const other = await daemon.goal();
    const running = await daemon.exec(other.goalId, 'exec sleep 600');
    const full = await daemon.refusal('runs.exec', daemon.launchArguments(other.goalId, 'true'));
    expect(full).toMatchObject({
      code: 'capacity_full',
      exitCode: 13,
      details: { scopeIds: [scopeId, running.scopeId] },
    });

    const stopped = await daemon.attempt('runs.stop', { id: runId, graceMs: 0 });
    expect(stopped).toMatchObject({ ok: true, exitCode: 5, data: { outcome: 'stopped_unverified' } });
    await isGone(workload.pid);
    expect(await daemon.ended(runId)).toMatchObject({ state: 'ended', end: { evidence: 'kernel_observation' } });
    await daemon.restart();
    const refused = await daemon.refusal('daemon.stop', {});
    expect(refused).toMatchObject({
      code: 'drain_blocked',
      exitCode: 6,
      details: { blocked: [scopeId], settled: [running.scopeId] },
    });
    await expectUnverified(await admitting(daemon), lost);
    await expectNoSeal(daemon, lost);
  });
});

describe('SIGKILL of a guardian at other times', () => {
  it('in the middle of a drain: the root is ended by its identity, and the stop says that nothing is proved', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '600000' } }).start();
    const { goalId } = await daemon.goal();
    const turn = turns(daemon.home.dir);
    const script = `trap 'echo $$ > "${turn.paths[0]}"' TERM; echo $$ > "${turn.paths[0]}"; while :; do sleep 600 & wait; done`;
    const { runId, scopeId } = await daemon.exec(goalId, script);
    await turn.ready();
    const { guardian, workload } = startReceipt(daemon.scopeDir(scopeId))!;
    const stopping = daemon.attempt('runs.stop', { id: runId });
    // Its SIGTERM has arrived, so the guardian is in its grace.
    await turn.ready();
    killGuardian(guardian);
    await daemon.event({ actor: scopeId!, type: 'guardian.observed' }, ({ payload }) => payload.result === 'absent');
    // The rest of the grace is for a root that is still there.
    signalVerified(workload, 'SIGKILL');
    const stopped = await stopping;
    expect(stopped).toMatchObject({ ok: true, exitCode: 5, data: { outcome: 'stopped_unverified' } });
    expect(stopped).toHaveProperty(
      'data.elapsedMs',
      expect.toSatisfy((elapsedMs: number) => elapsedMs < 300_000),
    );
    const [failure] = await daemon.events({ actor: scopeId!, type: 'drain.inspectionFailed' });
    expect(failure?.payload).toMatchObject({ reasonCode: 'guardian_gone' });
  });

  it('of our own git: who waits for it is answered, and the work of others goes on (ruling 25)', async () => {
    const daemon = testDaemon();
    const turn = turns(daemon.home.dir);
    const bin = join(daemon.home.dir, 'bin');
    const waiting = `[ "$1" = worktree ] && { echo $$ > "${turn.paths[0]}"; read line < "${turn.paths[1]}"; }`;
    mkdirSync(bin);
    writeFileSync(join(bin, 'git'), `#!/bin/sh\n${waiting}\nPATH="\${PATH#*:}" exec git "$@"\n`, { mode: 0o755 });
    Object.assign(daemon.home.env, { PATH: `${bin}:${daemon.home.env.PATH}` });
    await daemon.start();
    const added = { title: 'a goal', repo: daemon.home.repo, request: 'x', queue: true };
    const { goalId } = await daemon.call('goals.add', added);
    const refusing = daemon.refusal('worktrees.add', { goalId });
    const git = { pid: await turn.ready() };
    const { scopes } = await daemon.call('processes', {});
    const lost = scopes.find(({ purpose }) => purpose === 'git worktree')!;
    killGuardian(startReceipt(daemon.scopeDir(lost.scopeId))!.guardian);
    expect(await refusing).toMatchObject({
      code: 'ownership_unverified',
      exitCode: 6,
      details: { scopeId: lost.scopeId },
    });
    await turn.release();
    await isGone(git.pid);
    expect(await daemon.scope(lost.scopeId)).toMatchObject({ holdsSlot: false, assessment: { state: 'unverified' } });
    const other = await daemon.call('goals.add', { ...added, title: 'another' });
    expect(await daemon.call('repos.list', {})).toMatchObject({ repositories: [{ repoId: other.repoId }] });
  });
});

/** A stop that was refused leaves admission closed, for a person to decide. */
async function admitting(daemon: TestDaemon): Promise<TestDaemon> {
  expect(await daemon.call('status', {})).toMatchObject({ admission: 'closed', lifecycle: 'drainBlocked' });
  await daemon.call('resume', {});
  return daemon;
}
