import { readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { assumptionWords } from '../../actors/daemon/commands/assumeEnded.ts';
import { isGone, statOf } from '../guardian/support/processes.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, holdAt } from '../support/daemonFailpoints.ts';
import { startReceipt } from '../support/daemonLeftovers.ts';
import { Refused } from '../support/daemonProcess.ts';
import { loseGuardianOf } from '../support/guardianLoss.ts';
import { continueGuardian, stopGuardian } from '../support/guardianPair.ts';
import {
  fenceStory,
  killWorker,
  positionOf,
  silenceMs,
  ticked,
  tickingWorker,
  workerOf,
  workerScopes,
  workingDaemon,
} from './support/workers.ts';

/** The worker's guardian is lost, so nothing can prove the end of the worker any more. */
async function loseGuardianOfWorker(daemon: TestDaemon): Promise<string> {
  const { scopeId } = await workerOf(daemon);
  await loseGuardianOf(daemon, scopeId!);
  await daemon.event({ actor: scopeId!, type: 'guardian.observed' }, ({ payload }) => payload.result === 'absent');
  return scopeId!;
}

describe('the replacement of a worker', () => {
  it('REC-02 REPL-07 follows the order of the fence, and ends with a tick of its own', async () => {
    const daemon = await workingDaemon().start();
    await ticked(daemon);
    const before = await workerOf(daemon);
    const since = await positionOf(daemon);
    await killWorker(daemon);
    await ticked(daemon, since);
    expect(await fenceStory(daemon, since)).toEqual([
      'worker.scopeSettled',
      'recovery.started',
      'ownership.rescanned',
      'replacement.launched',
      'scheduler.tick',
    ]);
    const after = await workerOf(daemon);
    expect(after).toMatchObject({ state: 'ticking', recovery: { phase: 'idle', attempts: 0 } });
    expect(after.incarnationId).not.toBe(before.incarnationId);
    expect(await workerScopes(daemon)).toHaveLength(1);
  });

  it('REC-02 of one that is silent begins with its end, and waits for the proof of it', async () => {
    const daemon = await workingDaemon({ env: { CUSTODY_SILENCE_MS: silenceMs } }).start();
    await ticked(daemon);
    const { pid, scopeId } = await workerOf(daemon);
    const since = await positionOf(daemon);
    process.kill(pid!, 'SIGSTOP');
    await ticked(daemon, since);
    expect(await fenceStory(daemon, since)).toEqual([
      'recovery.started',
      'worker.scopeSettled',
      'ownership.rescanned',
      'replacement.launched',
      'scheduler.tick',
    ]);
    expect(statOf(pid!)).toBeUndefined();
    expect((await daemon.events({ actor: scopeId!, type: 'drain.requested' }))[0]?.payload).toMatchObject({
      cause: 'recovery',
    });
  });

  it('REC-04 REC-05 REC-06 is refused while the old one is not proved to be gone, and says so', async () => {
    const daemon = await workingDaemon().start();
    await ticked(daemon);
    const { pid } = await workerOf(daemon);
    const since = await positionOf(daemon);
    const scopeId = await loseGuardianOfWorker(daemon);
    await daemon.event({ since, type: 'recovery.failed' });
    await isGone(pid!); // ended by its verified identity, which proves nothing about what it may have left behind
    const status = await daemon.call('status', {});
    expect(status.worker).toMatchObject({ recovery: { phase: 'refused', evidence: [{ reason: 'guardian_gone' }] } });
    expect(status.health.state).toBe('ownership_unverified');
    const looks = await daemon.events({ actor: scopeId, type: 'guardian.observed' });
    const absent = looks.find(({ payload }) => payload.result === 'absent');
    expect(status.health.reasons).toContainEqual(
      expect.objectContaining({ code: 'ownership_unverified', scopeId, pid, since: absent!.wallMs }),
    );
    expect(status.health.reasons.find(({ code }) => code === 'recovery_refused')?.next).toEqual([
      'custody recover --now',
      'custody recover --explain',
      'custody processes',
      'custody doctor',
    ]);
    expect(await fenceStory(daemon, since)).not.toContain('replacement.launched');
    const refusal = await daemon.refusal('recover', { now: true });
    expect(refusal).toMatchObject({ code: 'recovery_refused', exitCode: 6, details: { scopeIds: [scopeId] } });
    const shown = await daemon.call('recover', {});
    expect(shown.blockers.map((blocker) => blocker.scopeId)).toEqual([scopeId]);
    expect(startReceipt(daemon.scopeDir(scopeId))).toBeDefined();
    expect(await workerScopes(daemon)).toHaveLength(1);
  });

  it('REC-01 keeps a second one out at once, and names who is at work', async () => {
    const daemon = await workingDaemon({ env: { CUSTODY_SILENCE_MS: silenceMs } }).start();
    await ticked(daemon);
    const { pid, scopeId } = await workerOf(daemon);
    const { guardian } = startReceipt(daemon.scopeDir(scopeId))!;
    // Its end cannot be proved as long as its guardian is stopped, so the recovery stays where it is.
    stopGuardian(guardian);
    onTestFinished(() => continueGuardian(guardian));
    process.kill(pid!, 'SIGSTOP');
    await daemon.event({ type: 'recovery.started' }, ({ payload }) => payload.reason === 'worker_silent');
    const since = await positionOf(daemon);
    for (const _ of [1, 2]) {
      const refusal = await daemon.refusal('recover', { now: true });
      expect(refusal).toMatchObject({ code: 'fence_busy', exitCode: 7, details: { holder: 'recovery' } });
    }
    expect(await fenceStory(daemon, since)).toEqual([]);
    continueGuardian(guardian);
    await ticked(daemon, since);
  });

  it('REC-03 waits for what the old one had on its way', async () => {
    const daemon = await workingDaemon({ check: 'true' }).start(failingDaemonCommand());
    await ticked(daemon);
    const { goalId } = await daemon.call('goals.add', { title: 'a', repo: daemon.home.repo, request: 'x\n' });
    await daemon.call('worktrees.add', { goalId });
    const held = await holdAt(daemon, { at: 'before handshake' });
    await daemon.call('goals.queue', { id: goalId });
    await held.reached();
    const since = await positionOf(daemon);
    await killWorker(daemon);
    await daemon.event({ since, type: 'ownership.rescanned' });
    const abandoned = await daemon.event({ since, type: 'launch.abandoned' });
    const launched = await daemon.event({ since, type: 'replacement.launched' });
    expect(abandoned.position).toBeLessThan(launched.position);
    await held.letGo();
    // The next worker begins it anew.
    expect((await daemon.event({ since, actor: goalId, type: 'receipt.recorded' })).payload.verdict).toBe('accepted');
  });

  it('is asked for, and waited for, where the worker has gone and nobody has looked yet', async () => {
    const daemon = await workingDaemon().start();
    await ticked(daemon);
    const { incarnationId } = await workerOf(daemon);
    await killWorker(daemon);
    await daemon.event({ actor: incarnationId!, type: 'scope.exitProved' });
    const answer = await daemon.call('recover', { now: true }).catch((error) => error);
    // Either this call has begun it, or it came while it was under way.
    if (answer instanceof Refused) expect(answer.error).toMatchObject({ code: 'fence_busy' });
    else expect(answer.worker).toMatchObject({ recovery: { phase: 'idle' } });
    const worker = await tickingWorker(daemon);
    expect(worker.incarnationId).not.toBe(incarnationId);
    expect(await daemon.call('recover', { now: true })).toMatchObject({
      worker: { incarnationId: worker.incarnationId },
    });
  });

  it('REC-10 removes what earlier programs coordinated with, unread, and nothing else', async () => {
    const daemon = await workingDaemon().start();
    await ticked(daemon);
    const before = await positionOf(daemon);
    await daemon.kill('SIGTERM');
    const run = join(daemon.home.stateDir, 'run');
    const names = ['execution-coordination.json', 'cancellation-journal-7.jsonl'];
    const others = ['execution-coordination.json.bak', 'cancellation-journal-.jsonl', 'mine.json'];
    for (const name of [...names, ...others]) writeFileSync(join(run, name), '{"malformed');
    symlinkSync(join(run, 'mine.json'), join(run, 'execution-coordination-9.json'));
    await daemon.start();
    await tickingWorker(daemon);
    expect(readdirSync(run).filter((name) => names.includes(name))).toEqual([]);
    expect(readdirSync(run)).toEqual(expect.arrayContaining([...others, 'execution-coordination-9.json']));
    expect(await daemon.events({ since: before })).toEqual([]);
  });

  it('goes on once somebody answers for an old one that nothing can prove', async () => {
    const daemon = await workingDaemon({ env: { CUSTODY_RETRY_BACKOFF_MS: '600000' } }).start();
    await ticked(daemon);
    const { pid } = await workerOf(daemon);
    const since = await positionOf(daemon);
    const scopeId = await loseGuardianOfWorker(daemon);
    await daemon.event({ since, type: 'recovery.failed' });
    await isGone(pid!);
    await daemon.call('recover.assumeEnded', {
      scopeId,
      because: 'the machine room was looked at',
      confirm: { scopeId, text: assumptionWords },
    });
    await ticked(daemon, since);
    expect((await fenceStory(daemon, since)).slice(-4)).toEqual([
      'recovery.started',
      'ownership.rescanned',
      'replacement.launched',
      'scheduler.tick',
    ]);
    expect((await workerOf(daemon)).state).toBe('ticking');
    expect((await daemon.scope(scopeId)).assessment).toMatchObject({ state: 'unverified', assumed: {} });
    // The same holds for whoever comes later, and for the next replacement.
    await daemon.restart();
    await tickingWorker(daemon);
    const later = await positionOf(daemon);
    await killWorker(daemon);
    await ticked(daemon, later);
  });

  it('OWN-10 stops where its record is damaged, says so, and keeps nobody else from working', async () => {
    const daemon = await workingDaemon().start();
    await ticked(daemon);
    await daemon.kill('SIGTERM');
    const database = new Database(join(daemon.home.stateDir, 'custody.db'));
    database.prepare(`UPDATE actors SET snapshot = ' ' || snapshot WHERE kind = 'recoveryFence'`).run();
    database.close();
    await daemon.start();
    const { worker, health } = await daemon.call('status', {});
    expect(worker.recovery.phase).toBe('unreadable');
    expect(health.reasons.map(({ code }) => code)).toContain('recovery_unreadable');
    expect((await daemon.call('recover', {})).explanation).toMatch(/damaged/);
    const { goalId } = await daemon.goal();
    const { runId } = await daemon.exec(goalId, 'exit 3');
    expect(await daemon.proved(runId)).toMatchObject({ result: { code: 3 } });
  });

  it('REC-07 keeps nobody else from being ended on time while it is refused', async () => {
    const daemon = await workingDaemon({ check: 'exit 0' }).start();
    await ticked(daemon);
    const { goalId } = await daemon.goal({});
    await daemon.event({ actor: goalId, type: 'receipt.recorded' });
    await loseGuardianOfWorker(daemon);
    await daemon.event({ type: 'recovery.failed' });
    const { runId, scopeId } = await daemon.exec(goalId, 'sleep 1000', { timeoutMs: 200 });
    await daemon.proved(runId);
    const drains = await daemon.events({ actor: scopeId!, type: 'drain.requested' });
    expect(drains[0]?.payload).toMatchObject({ cause: 'deadline' });
    expect((await workerOf(daemon)).recovery.phase).not.toBe('idle');
  });

  it('REC-07 keeps nobody from draining what became obsolete meanwhile: the runs of a cancelled Goal', async () => {
    const daemon = await workingDaemon({ env: { CUSTODY_RETRY_BACKOFF_MS: '600000' } }).start();
    await ticked(daemon);
    const { goalId } = await daemon.goal();
    const { runId, scopeId } = await daemon.exec(goalId, '(setsid sleep 1000 &); exec sleep 1000');
    await loseGuardianOfWorker(daemon);
    await daemon.event({ type: 'recovery.failed' });
    await daemon.call('goals.cancel', { id: goalId });
    await daemon.proved(runId);
    const drains = await daemon.events({ actor: scopeId!, type: 'drain.requested' });
    expect(drains[0]?.payload).toMatchObject({ cause: 'cancelled' });
    expect((await workerOf(daemon)).recovery.phase).toBe('refused');
  });

  it('REC-08 is shown as one health by status, processes, doctor and recover', async () => {
    const daemon = await workingDaemon({ env: { CUSTODY_RETRY_BACKOFF_MS: '600000' } }).start();
    await ticked(daemon);
    const healthy = (await daemon.call('status', {})).health.digest;
    await loseGuardianOfWorker(daemon);
    await daemon.event({ type: 'recovery.failed' });
    const replies = await Promise.all([
      daemon.attempt('status', {}),
      daemon.attempt('processes', {}),
      daemon.attempt('doctor', {}),
      daemon.attempt('recover', {}),
    ]);
    const shown = replies.map((reply) => {
      if (!reply.ok || reply.health === undefined) throw new Error('no health is shown');
      return reply.health.digest;
    });
    expect(new Set(shown).size).toBe(1);
    expect(shown[0]).not.toBe(healthy);
  });
});
