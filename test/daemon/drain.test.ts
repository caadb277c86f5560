import { describe, expect, it } from 'vitest';
import { testDaemon } from '../support/daemon.ts';
import { startReceipt } from '../support/daemonLeftovers.ts';
import { eventually } from '../support/eventually.ts';
import { continueGuardian, killGuardian, stopGuardian } from '../support/guardianPair.ts';
import { stubborn } from './support/stubborn.ts';

const ownReceipt = { state: 'exited', proof: 'own_receipt' };

describe('SHUT-01, SHUT-03: draining without stopping', () => {
  it('proves everything, admits nothing meanwhile, moves no Goal, and leaves the daemon and admission as they were', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '1000' } }).start();
    const runs = [await stubborn(daemon, 'one'), await stubborn(daemon, 'two')];
    const before = await Promise.all(runs.map(({ goalId }) => daemon.call('goals.show', { id: goalId })));
    const draining = daemon.call('drain', {});
    await daemon.event({ actor: runs[0]!.scopeId, type: 'drain.requested' });
    const exec = daemon.launchArguments(runs[0]!.goalId, 'exit 3');
    expect(await daemon.refusal('runs.exec', exec)).toMatchObject({ code: 'admission_closed', exitCode: 13 });
    // Its own git would be missed by the look that has just been taken.
    const { goalId } = await daemon.call('goals.add', { title: 'another', repo: daemon.home.repo, request: 'do it' });
    expect(await daemon.refusal('worktrees.add', { goalId })).toMatchObject({ code: 'admission_closed', exitCode: 13 });
    const { settled, blocked, unverified } = await draining;
    expect([...settled].sort()).toEqual(runs.map(({ scopeId }) => scopeId).sort());
    expect([blocked, unverified]).toEqual([[], []]);
    for (const { runId } of runs)
      expect(await daemon.call('runs.show', { id: runId })).toMatchObject({ scope: ownReceipt });
    const after = await Promise.all(runs.map(({ goalId: id }) => daemon.call('goals.show', { id })));
    expect(after.map(({ status }) => status)).toEqual(before.map(({ status }) => status));
    expect(await daemon.call('status', {})).toMatchObject({ lifecycle: 'serving', admission: 'open' });
    expect(await daemon.proved((await daemon.call('runs.exec', exec)).runId)).toMatchObject({ result: { code: 3 } });
  });

  it('an installation that was paused stays paused; a pause during the drain is kept', async () => {
    const daemon = await testDaemon().start();
    await stubborn(daemon, 'one');
    await daemon.call('pause', {});
    await daemon.call('drain', {});
    expect(await daemon.call('status', {})).toMatchObject({ admission: 'paused' });
    await daemon.call('resume', {});
    const { scopeId } = await stubborn(daemon, 'two');
    const draining = daemon.call('drain', {});
    await daemon.event({ actor: scopeId, type: 'drain.requested' });
    expect(await daemon.call('pause', {})).toEqual({ admission: 'closed' });
    await draining;
    expect(await daemon.call('status', {})).toMatchObject({ admission: 'paused' });
  });

  it('what cannot be proved is named, with what was; admission is open again (exit 6)', async () => {
    const daemon = await testDaemon().start();
    const lost = await stubborn(daemon, 'lost');
    const other = await stubborn(daemon, 'other');
    killGuardian(startReceipt(daemon.scopeDir(lost.scopeId))!.guardian);
    expect(await daemon.refusal('drain', {})).toMatchObject({
      code: 'drain_blocked',
      exitCode: 6,
      details: { settled: [other.scopeId], blocked: [lost.scopeId], unverified: [] },
      // Nothing is closed afterwards, so there is nothing to resume.
      next: ['custody processes --all', `custody recover --assume-ended ${lost.scopeId} --because TEXT`],
    });
    expect(await daemon.call('status', {})).toMatchObject({ lifecycle: 'serving', admission: 'open' });
  });

  it('a shorter grace is heard by what is being ended already', async () => {
    const daemon = await testDaemon().start();
    const { runId, scopeId } = await stubborn(daemon, 'one');
    const stopping = daemon.call('runs.stop', { id: runId, graceMs: 3_600_000 });
    await daemon.event({ actor: scopeId, type: 'drain.requested' });
    expect(await daemon.call('drain', { graceMs: 0 })).toMatchObject({ settled: [scopeId], blocked: [] });
    expect(await stopping).toMatchObject({ outcome: 'proved' });
  });

  it('does not wait longer than it was told to', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '3600000' } }).start();
    const { scopeId } = await stubborn(daemon, 'one');
    expect(await daemon.refusal('drain', { waitMs: 0 })).toMatchObject({ details: { blocked: [scopeId] } });
    expect(await daemon.call('drain', { graceMs: 0 })).toMatchObject({ settled: [scopeId] });
  });
});

describe('SHUT-05: one end of everything at a time', () => {
  it('neither a stop nor a drain begins during a drain, and nothing of it is repeated', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '1000' } }).start();
    const { scopeId } = await stubborn(daemon, 'one');
    const draining = daemon.call('drain', {});
    await daemon.event({ actor: scopeId, type: 'drain.requested' });
    const busy = { code: 'fence_busy', exitCode: 7, details: { holder: 'drain' } };
    expect(await daemon.refusal('daemon.stop', {})).toMatchObject(busy);
    expect(await daemon.refusal('drain', {})).toMatchObject(busy);
    expect(await draining).toMatchObject({ settled: [scopeId] });
    expect(await daemon.events({ actor: scopeId, type: 'drain.requested' })).toHaveLength(1);
    expect(await daemon.call('daemon.stop', {})).toMatchObject({ stopped: true, settled: [], blocked: [] });
    expect(await daemon.process.exited).toEqual({ code: 0, signal: null });
  });
});

describe('SHUT-06, C.9: a stop that is blocked', () => {
  it('goes on being looked after, proves itself when the guardian runs again, and succeeds when it is repeated', async () => {
    const daemon = await testDaemon({
      env: { CUSTODY_SHUTDOWN_BUDGET_MS: '2000', CUSTODY_RESPONSE_MS: '500' },
    }).start();
    const { goalId, scopeId } = await stubborn(daemon, 'one');
    const { guardian } = startReceipt(daemon.scopeDir(scopeId))!;
    stopGuardian(guardian);
    expect(await daemon.refusal('daemon.stop', {})).toMatchObject({
      code: 'drain_blocked',
      exitCode: 6,
      details: { blocked: [scopeId] },
    });
    const blocked = await daemon.call('status', {});
    expect(blocked).toMatchObject({ lifecycle: 'drainBlocked', admission: 'closed' });
    expect(blocked.health.reasons).toContainEqual(expect.objectContaining({ code: 'drain_blocked', scopeId }));
    const exec = daemon.launchArguments(goalId, 'exit 3');
    expect(await daemon.refusal('runs.exec', exec)).toMatchObject({ code: 'admission_closed' });
    // Maintenance: nobody asks for anything from here on.
    continueGuardian(guardian);
    await daemon.event({ actor: scopeId, type: 'guardian.exitReceipt' });
    expect(await daemon.call('status', {})).toMatchObject({ lifecycle: 'drainBlocked' });
    expect(await daemon.call('daemon.stop', {})).toMatchObject({ stopped: true, blocked: [] });
    expect(await daemon.process.exited).toEqual({ code: 0, signal: null });
  });

  it('is given up by a pause as by a resume; the pause stays until it is ended', async () => {
    const daemon = await testDaemon().start();
    const { scopeId } = await stubborn(daemon, 'one');
    killGuardian(startReceipt(daemon.scopeDir(scopeId))!.guardian);
    expect(await daemon.refusal('daemon.stop', {})).toMatchObject({ code: 'drain_blocked' });
    expect(await daemon.call('pause', {})).toEqual({ admission: 'paused' });
    expect(await daemon.call('status', {})).toMatchObject({ lifecycle: 'serving', admission: 'paused' });
    await daemon.restart();
    expect(await daemon.call('status', {})).toMatchObject({ lifecycle: 'serving', admission: 'paused' });
    expect(await daemon.call('resume', {})).toEqual({ admission: 'open' });
  });

  it('is blocked again for the successor of a daemon that was killed meanwhile, until somebody decides (SHUT-10)', async () => {
    const daemon = await testDaemon().start();
    const { scopeId } = await stubborn(daemon, 'one');
    killGuardian(startReceipt(daemon.scopeDir(scopeId))!.guardian);
    expect(await daemon.refusal('daemon.stop', {})).toMatchObject({ code: 'drain_blocked' });
    await daemon.restart();
    await eventually('the stop that goes on', async () =>
      (await daemon.call('status', {})).lifecycle === 'drainBlocked' ? true : undefined,
    );
    await daemon.call('daemon.stop', { keepWork: true });
    expect(await daemon.process.exited).toEqual({ code: 0, signal: null });
    await daemon.start();
    expect(await daemon.call('status', {})).toMatchObject({ lifecycle: 'serving', admission: 'open' });
  });
});
