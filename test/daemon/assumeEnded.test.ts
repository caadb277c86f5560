/** Break-glass (GRD-10, ruling 16): what it takes, what it changes, and that it proves nothing. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CallArguments } from '../../actors/daemon/api/contract.ts';
import type { ApiError, EventView } from '../../actors/daemon/api/views.ts';
import { assumptionWords } from '../../actors/daemon/commands/assumeEnded.ts';
import { inState, isGone } from '../guardian/support/processes.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, killAt, refuseAt } from '../support/daemonFailpoints.ts';
import { signalVerified, startReceipt } from '../support/daemonLeftovers.ts';
import { damageRow } from '../support/damage.ts';
import { lostRun } from '../support/guardianLoss.ts';
import { continueGuardian, loseGuardian, stopGuardian } from '../support/guardianPair.ts';

const because = 'nobody can know any more';
const confirmed = (scopeId: string, rest: object = {}): CallArguments<'recover.assumeEnded'> => ({
  scopeId,
  because,
  confirm: { scopeId, text: assumptionWords },
  ...rest,
});

const blockerCodes = ({ details = {} }: Pick<ApiError, 'details'>): string[] =>
  (details.blockers as { readonly code: string }[]).map(({ code }) => code);

const worktreesOf = ({ home }: TestDaemon): string =>
  execFileSync('git', ['worktree', 'list', '--porcelain'], { cwd: home.repo, env: home.env, encoding: 'utf8' });

const notesIn = ({ home }: TestDaemon): string[] =>
  readdirSync(join(home.stateDir, 'quarantine')).filter((name) => name.endsWith('.json'));

describe('a scope that nothing can prove any more', () => {
  it('is let go once somebody answers for it, its worktree put aside first, and everything else goes on', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_CAPACITY: '1' } }).start();
    const lost = await lostRun(daemon);
    const { goalId, generationId, path, scopeId } = lost;
    await lost.endRoot();
    const before = await daemon.refusal('runs.exec', daemon.launchArguments(goalId, 'true'));
    expect(before.code).toBe('capacity_full');
    const { health } = await daemon.call('status', {});
    expect(health.next).toContain(`custody recover --assume-ended ${scopeId} --because TEXT`);

    const requestId = 'break-the-glass';
    const done = await daemon.attempt('recover.assumeEnded', confirmed(scopeId, { requestId }));
    const to = join(daemon.home.stateDir, 'quarantine', `${generationId}-1`);
    expect(done).toMatchObject({
      ok: true,
      exitCode: 5,
      data: {
        assessment: { state: 'unverified', certainty: 'gap', assumed: { by: 'operator', because } },
        quarantine: { generationId, from: path, to, gitMetadata: 'repaired' },
      },
    });
    const repeated = await daemon.attempt('recover.assumeEnded', confirmed(scopeId, { requestId }));
    expect(repeated).toMatchObject({ ok: true, data: { scopeId } });
    const again = await daemon.refusal('recover.assumeEnded', confirmed(scopeId));
    expect(blockerCodes(again)).toEqual(['already_assumed']);

    expect(existsSync(path)).toBe(false);
    expect(readFileSync(join(to, 'written'), 'utf8')).toBe('work\n');
    expect(worktreesOf(daemon)).toMatch(new RegExp(`worktree ${to}\\n[^]*?\\nlocked`));
    expect(
      execFileSync('git', ['status', '--porcelain'], { cwd: to, env: daemon.home.env, encoding: 'utf8' }),
    ).toContain('written');
    expect(notesIn(daemon)).toEqual([]);

    // It holds no slot, and the Goal goes on somewhere else.
    const status = await daemon.attempt('status', {});
    expect(status).toMatchObject({
      exitCode: 0,
      data: {
        capacity: { used: 0 },
        health: { state: 'ok', reasons: [{ code: 'ownership_assumed', scopeId }], next: [] },
      },
    });
    const homeless = await daemon.refusal('runs.exec', daemon.launchArguments(goalId, 'true'));
    expect(homeless.code).not.toBe('ownership_unverified');
    await daemon.call('worktrees.add', { goalId });
    const next = await daemon.exec(goalId, 'exit 3');
    expect(await daemon.proved(next.runId)).toMatchObject({ result: { code: 3 } });

    // It was never proved, and is never sealed.
    expect(await daemon.call('worktrees.show', { id: generationId })).toMatchObject({
      lifecycle: 'quarantined',
      path: to,
    });
    const seal = await daemon.refusal('worktrees.seal', { id: generationId });
    expect(blockerCodes(seal)).toContain('quarantined');
    await daemon.restart();
    expect((await daemon.scope(scopeId)).assessment).toMatchObject({ state: 'unverified', assumed: { because } });
    const [kept] = await daemon.events({ actor: scopeId, type: 'end.assumed' });
    expect(kept?.payload).toMatchObject({ actor: 'operator', because, observed: expect.anything() });
    const stopped = await daemon.attempt('daemon.stop', {});
    expect(stopped).toMatchObject({ ok: true, exitCode: 5, data: { stopped: true, blocked: [], assumed: [scopeId] } });
  });

  it('takes two confirmations, each word for word', async () => {
    const daemon = await testDaemon().start();
    const { scopeId, generationId, path, endRoot } = await lostRun(daemon);
    await endRoot();
    const asked = await daemon.refusal('recover.assumeEnded', { scopeId, because });
    expect(asked).toMatchObject({
      code: 'confirmation_required',
      exitCode: 13,
      details: { scopeId, generationId, words: assumptionWords },
    });
    for (const confirm of [
      { scopeId: scopeId.slice(0, 4), text: assumptionWords },
      { scopeId, text: 'yes' },
    ]) {
      const half = await daemon.refusal('recover.assumeEnded', confirmed(scopeId, { confirm }));
      expect(half.code).toBe('confirmation_required');
    }
    expect(existsSync(path)).toBe(true);
  });

  it('is not let go while one of its processes is seen', async () => {
    const daemon = await testDaemon().start();
    const { scopeId, path, endRoot } = await lostRun(daemon);
    const refusal = await daemon.refusal('recover.assumeEnded', confirmed(scopeId));
    expect(refusal).toMatchObject({ code: 'recover_refused', exitCode: 13 });
    expect(blockerCodes(refusal)).toEqual(['process_alive']);
    expect(existsSync(path)).toBe(true);
    await endRoot();
    expect(await daemon.attempt('recover.assumeEnded', confirmed(scopeId))).toMatchObject({ ok: true });
  });

  it.each([
    ['was started in it', 'cd /; ', (scopeId: string) => `was started in ${scopeId}`],
    [
      'stands in its worktree',
      'unset CUSTODY_SCOPE; ',
      (_: string, generationId: string) => `its worktree ${generationId}`,
    ],
  ])('is not let go while somebody of whom nothing was recorded %s', async (_, change, words) => {
    const daemon = await testDaemon().start();
    const pidFile = join(daemon.home.dir, 'child');
    const first = `(${change}exec setsid sleep 600) > ${pidFile}.out 2>&1 & echo $! > ${pidFile}`;
    const { scopeId, generationId, path, endRoot } = await lostRun(daemon, { first });
    await endRoot();
    const pid = Number(readFileSync(pidFile, 'utf8'));
    onTestFinished(() => void process.kill(pid, 'SIGKILL'));
    const refusal = await daemon.refusal('recover.assumeEnded', confirmed(scopeId));
    expect(refusal.details?.blockers).toMatchObject([{ code: 'process_found', pid }]);
    expect(refusal.message).toContain(`sleep, pid ${pid}, is alive and`);
    expect(refusal.message).toContain(words(scopeId, generationId));
    expect(existsSync(path)).toBe(true);
  });

  it('is not let go under somebody else who works in the same worktree', async () => {
    const daemon = await testDaemon().start();
    const lost = await lostRun(daemon, { beside: 'exec sleep 600' });
    const { scopeId, path, generationId, endRoot, other } = lost;
    await endRoot();
    const refusal = await daemon.refusal('recover.assumeEnded', confirmed(scopeId));
    expect(refusal.details?.blockers).toMatchObject([{ code: 'generation_in_use', scopeId: other!.scopeId }]);
    expect(existsSync(path)).toBe(true);

    // Where the other one is lost as well, nobody works there any more; the second finds the worktree put aside.
    const { guardian, workload } = startReceipt(daemon.scopeDir(other!.scopeId))!;
    await loseGuardian(guardian);
    const isAbsent = ({ payload }: EventView): boolean => payload.result === 'absent';
    await daemon.event({ actor: other!.scopeId!, type: 'guardian.observed' }, isAbsent);
    signalVerified(workload, 'SIGKILL');
    await isGone(workload.pid);
    const first = await daemon.call('recover.assumeEnded', confirmed(scopeId));
    const second = await daemon.call('recover.assumeEnded', confirmed(other!.scopeId!));
    expect(first.quarantine).toMatchObject({ generationId, from: path });
    expect(second.quarantine).toEqual(first.quarantine);
  });

  it('without a worktree that is still there, it is let go all the same', async () => {
    const daemon = await testDaemon().start();
    const { scopeId, path, generationId, endRoot } = await lostRun(daemon);
    await endRoot();
    execFileSync('git', ['worktree', 'remove', '--force', path], { cwd: daemon.home.repo, env: daemon.home.env });
    expect(await daemon.call('recover.assumeEnded', confirmed(scopeId))).toMatchObject({
      quarantine: { generationId, from: path, to: null, gitMetadata: 'none' },
    });
  });
});

describe('a scope that may still be proved', () => {
  it('is refused while its guardian answers, and while it is silent', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_RESPONSE_MS: '200' } }).start();
    const { goalId } = await daemon.goal();
    const { scopeId } = await daemon.exec(goalId, 'exec sleep 600');
    const live = await daemon.refusal('recover.assumeEnded', confirmed(scopeId!));
    expect(blockerCodes(live)).toEqual(['not_unverified', 'guardian_answers', 'process_alive', 'process_alive']);
    const { guardian } = startReceipt(daemon.scopeDir(scopeId))!;
    stopGuardian(guardian);
    await inState(guardian.pid, 'T');
    const silent = await daemon.refusal('recover.assumeEnded', confirmed(scopeId!));
    expect(blockerCodes(silent)).toContain('guardian_answers');
    continueGuardian(guardian);
  });

  it('is refused when it is proved', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const { runId, scopeId } = await daemon.exec(goalId, 'true');
    await daemon.proved(runId);
    const refusal = await daemon.refusal('recover.assumeEnded', confirmed(scopeId!));
    expect(blockerCodes(refusal)).toEqual(['not_unverified']);
  });
});

describe('a quarantine that goes wrong', () => {
  it('on the way there records nothing', async () => {
    const daemon = await testDaemon().start();
    const { scopeId, path, generationId, endRoot } = await lostRun(daemon);
    await endRoot();
    writeFileSync(join(daemon.home.stateDir, 'quarantine'), 'in the way');
    const refusal = await daemon.refusal('recover.assumeEnded', confirmed(scopeId));
    expect(refusal).toMatchObject({ code: 'quarantine_failed', exitCode: 10 });
    expect(existsSync(path)).toBe(true);
    expect(await daemon.call('worktrees.show', { id: generationId })).toMatchObject({ lifecycle: 'open' });
    expect(await daemon.events({ actor: scopeId, type: 'end.assumed' })).toEqual([]);
  });

  it('between the rename and the commit is taken back by the next daemon', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { scopeId, path, generationId, endRoot } = await lostRun(daemon);
    await endRoot();
    const listed = worktreesOf(daemon);
    await killAt(daemon, { at: 'after_journal_insert', of: 'end.assumed' });
    await expect(daemon.call('recover.assumeEnded', confirmed(scopeId))).rejects.toMatchObject({ code: 'daemon_gone' });
    await daemon.process.exited;
    expect(existsSync(path)).toBe(false);
    expect(notesIn(daemon)).toHaveLength(1);
    await daemon.start();
    expect(readFileSync(join(path, 'written'), 'utf8')).toBe('work\n');
    expect(worktreesOf(daemon)).toBe(listed);
    expect(notesIn(daemon)).toEqual([]);
    expect(await daemon.call('worktrees.show', { id: generationId })).toMatchObject({ lifecycle: 'open', path });
    expect(await daemon.call('recover.assumeEnded', confirmed(scopeId))).toMatchObject({ quarantine: { from: path } });
  });

  it.each(['note', 'record'])('is left as it is where the %s cannot be read, and the daemon serves', async (what) => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { scopeId, path, generationId, endRoot } = await lostRun(daemon);
    await endRoot();
    await killAt(daemon, { at: 'after_journal_insert', of: 'end.assumed' });
    await expect(daemon.call('recover.assumeEnded', confirmed(scopeId))).rejects.toMatchObject({ code: 'daemon_gone' });
    await daemon.process.exited;
    const [note] = notesIn(daemon);
    if (what === 'note') writeFileSync(join(daemon.home.stateDir, 'quarantine', note!), '{"generationId":');
    else damageRow(daemon, generationId);
    await daemon.start();
    expect(existsSync(path)).toBe(false);
    expect(notesIn(daemon)).toEqual([note]);
    expect(await daemon.call('status', {})).toMatchObject({ lifecycle: 'serving' });
  });

  it('is taken back at once where the store does not take the commit, and can be asked for again', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { scopeId, path, endRoot } = await lostRun(daemon);
    await endRoot();
    await refuseAt(daemon, { at: 'after_journal_insert', of: 'end.assumed', next: 'before_commit' });
    expect(await daemon.refusal('recover.assumeEnded', confirmed(scopeId))).toMatchObject({ code: 'store_full' });
    expect(readFileSync(join(path, 'written'), 'utf8')).toBe('work\n');
    expect(notesIn(daemon)).toEqual([]);
    expect(await daemon.call('recover.assumeEnded', confirmed(scopeId))).toMatchObject({ quarantine: { from: path } });
  });

  it('after the commit stays', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { scopeId, path, generationId, endRoot } = await lostRun(daemon);
    await endRoot();
    await killAt(daemon, { at: 'after_journal_insert', of: 'end.assumed', next: 'after_commit' });
    await expect(daemon.call('recover.assumeEnded', confirmed(scopeId))).rejects.toMatchObject({ code: 'daemon_gone' });
    await daemon.process.exited;
    expect(notesIn(daemon)).toHaveLength(1);
    await daemon.start();
    expect(existsSync(path)).toBe(false);
    expect(notesIn(daemon)).toEqual([]);
    expect(await daemon.call('worktrees.show', { id: generationId })).toMatchObject({ lifecycle: 'quarantined' });
    expect((await daemon.scope(scopeId)).assessment).toMatchObject({ assumed: { because } });
  });
});
