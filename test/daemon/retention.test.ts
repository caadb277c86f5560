/** What is removed for good, with real runs: never what a proof still has to release (RET-02, RET-04, CAP-03, OWN-02). */
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../persistence/store.ts';
import { tickingClock } from '../persistence/support/clock.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, killAt } from '../support/daemonFailpoints.ts';
import { lostRun } from '../support/guardianLoss.ts';
import { continueGuardian, stopGuardian } from '../support/guardianPair.ts';
import { guardianOf, opened, over, shows, transcriptOf } from './support/terminals.ts';

/** Everything is old enough at once, and of each actor one event is enough. */
const env = {
  CUSTODY_JOURNAL_AGE_HOURS: '0',
  CUSTODY_JOURNAL_NEWEST_EVENTS: '1',
  CUSTODY_JOURNAL_STEP_ROWS: '5',
  CUSTODY_ARTIFACT_AGE_HOURS: '0',
};

const started = () => testDaemon({ env }).start();
const retire = (daemon: TestDaemon, dryRun = false) => daemon.call('artifacts.retire', { dryRun });

async function finished(daemon: TestDaemon, goalId: string, script = 'echo out; exit 3') {
  const { runId, scopeId } = await daemon.exec(goalId, script);
  await daemon.proved(runId);
  return { runId, scopeId: scopeId! };
}

describe('RET-02: after a checkpoint', () => {
  it('a run still cites its ending evidence, the event is there, and health, doctor and backup are as before', async () => {
    const daemon = await started();
    const { goalId } = await daemon.goal();
    const run = await finished(daemon, goalId);
    const living = await daemon.exec(goalId, 'exec sleep 600');
    const before = await daemon.call('runs.show', { id: run.runId });
    const history = await daemon.events({ actor: living.scopeId! });
    const planned = await daemon.call('journal.checkpoint', { dryRun: true });
    expect(planned).toMatchObject({ dryRun: true, removed: { events: expect.any(Number) } });
    const report = await daemon.call('journal.checkpoint', {});
    expect(report.removed.events).toBeGreaterThan(0);
    expect(report.rows.before - report.rows.after).toBe(report.removed.events);
    expect(report.kept).toMatchObject({ not_over: expect.any(Number), landmark: expect.any(Number) });

    const after = await daemon.call('runs.show', { id: run.runId });
    expect(after).toEqual(before);
    const ending = (await daemon.events({ actor: run.runId })).find(({ eventId }) => eventId === after.end!.eventId);
    expect(ending).toMatchObject({ type: 'workload.statusReceipt', payload: { code: 3 } });
    const { proof } = after.derived as { readonly proof: { readonly eventId: string } };
    const receipts = await daemon.events({ actor: run.scopeId, type: 'guardian.exitReceipt' });
    expect(receipts).toMatchObject([{ eventId: proof.eventId, payload: { receiptText: expect.any(String) } }]);
    expect((await daemon.events({ actor: living.scopeId! })).slice(0, history.length)).toEqual(history);

    const { checks } = await daemon.call('doctor', {});
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    const copy = join(daemon.home.dir, 'copy.db');
    expect(await daemon.call('backup', { to: copy })).toMatchObject({ path: copy });
    await daemon.restart();
    expect(await daemon.call('runs.show', { id: run.runId })).toEqual(before);
  });

  it('a request that is repeated is answered as the first one was (RET-03, STOP-08)', async () => {
    const daemon = await started();
    const { goalId } = await daemon.goal();
    const asked = daemon.launchArguments(goalId, 'exit 4', { requestId: 'the same again' });
    const first = await daemon.call('runs.exec', asked);
    await daemon.proved(first.runId);
    const stop = { id: first.runId, requestId: 'stop it' };
    await daemon.call('runs.stop', stop);
    await daemon.call('journal.checkpoint', {});
    expect(await daemon.call('runs.exec', asked)).toMatchObject({ runId: first.runId, scopeId: first.scopeId });
    expect(await daemon.call('runs.stop', stop)).toMatchObject({
      outcome: expect.stringMatching(/proved|already_ended/),
    });
    expect((await daemon.call('runs.list', {})).runs).toHaveLength(1);
  });

  it.each(['before_checkpoint_commit', 'after_checkpoint_commit'])(
    'a daemon that is killed at %s, step after step, loses nothing (FAULT-02)',
    async (at) => {
      const daemon = await testDaemon({ env }).start(failingDaemonCommand());
      const { goalId } = await daemon.goal();
      const runs = [await finished(daemon, goalId), await finished(daemon, goalId)];
      const shown = () => Promise.all(runs.map(({ runId }) => daemon.call('runs.show', { id: runId })));
      const before = await shown();
      for (const nth of [1, 2, 3, 4]) {
        await killAt(daemon, { at, nth });
        await expect(daemon.attempt('journal.checkpoint', {})).rejects.toMatchObject({ code: 'daemon_gone' });
        await daemon.process.exited;
        await daemon.start(failingDaemonCommand());
        expect(await shown()).toEqual(before);
      }
      await daemon.call('journal.checkpoint', {});
      expect(await shown()).toEqual(before);
      const { checks } = await daemon.call('doctor', {});
      expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    },
  );

  it('a successor goes on behind what the one before it had begun', async () => {
    const daemon = await testDaemon({ env }).start(failingDaemonCommand());
    const { goalId } = await daemon.goal();
    const run = await finished(daemon, goalId);
    await killAt(daemon, { at: 'after_checkpoint_commit', nth: 2 });
    await expect(daemon.attempt('journal.checkpoint', {})).rejects.toMatchObject({ code: 'daemon_gone' });
    await daemon.process.exited;
    const store = openStore({ stateDir: daemon.home.stateDir, clock: tickingClock(), create: false });
    const { steps } = JSON.parse(store.meta.get('journal.checkpoint')!);
    store.close();
    expect(steps).toBe(2);
    await daemon.start();
    expect((await daemon.call('journal.checkpoint', {})).steps).toBeGreaterThan(steps);
    expect(await daemon.call('runs.show', { id: run.runId })).toMatchObject({ state: 'ended' });
  });
});

describe('RET-01: what does not change is not written again', () => {
  it('neither by the observation of a guardian, pass after pass, nor by output, line after line', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const quiet = await daemon.exec(goalId, 'exec sleep 600');
    const other = await daemon.exec(goalId, 'exec sleep 600');
    const before = await daemon.events({ actor: quiet.scopeId! });
    const guardian = guardianOf(daemon, other.scopeId!);
    for (const round of [1, 2, 3]) {
      // That it is noticed here says that a pass has looked at all of them.
      stopGuardian(guardian);
      await passes(daemon, other.scopeId!, 2 * round - 1);
      continueGuardian(guardian);
      await passes(daemon, other.scopeId!, 2 * round);
    }
    expect(await daemon.events({ actor: quiet.scopeId! })).toEqual(before);

    const script = 'for n in $(seq 1 300); do echo line $n; done; echo all said; exec cat';
    const { sessionId } = await opened(daemon, script, { goal: goalId });
    await shows(daemon, sessionId, 'all said');
    const outputs = await daemon.events({ actor: sessionId, type: 'session.output' });
    expect(outputs.length).toBeLessThanOrEqual(2);
  });
});

/** Until so many observations of the scope's guardian were recorded. */
async function passes(daemon: TestDaemon, scopeId: string, count: number): Promise<void> {
  let seen = 0;
  await daemon.event({ actor: scopeId, type: 'guardian.observed' }, () => {
    seen += 1;
    return seen === count;
  });
}

describe('RET-03: event ids', () => {
  it('of earlier starts can be forgotten, and the horizon is on record', async () => {
    const daemon = await started();
    await daemon.restart();
    const none = await daemon.call('journal.forgetIds', { keepStarts: 100, dryRun: true });
    expect(none).toMatchObject({ dryRun: true, horizon: { epoch: 1, startNumber: 1 }, forgotten: 0 });
    const { horizon } = await daemon.call('journal.forgetIds', { keepStarts: 1 });
    expect(horizon.startNumber).toBeGreaterThan(1);
    expect(await daemon.call('journal.checkpoint', {})).toMatchObject({ eventIdHorizon: horizon });
    // It never goes back.
    expect(await daemon.call('journal.forgetIds', { keepStarts: 100 })).toMatchObject({ horizon });
  });
});

describe('RET-04: files', () => {
  it('of an unproved scope stay at an age of 0, and go after its proof (CAP-03)', async () => {
    const daemon = await started();
    const { goalId } = await daemon.goal();
    const run = await finished(daemon, goalId);
    const living = await daemon.exec(goalId, 'echo here; exec sleep 600');
    const left = await daemon.exec(goalId, 'setsid sleep 600 & echo left', { onRootExit: 'wait' });
    await daemon.ended(left.runId);
    const files = (id: string | null) =>
      existsSync(daemon.scopeDir(id)) ? readdirSync(daemon.scopeDir(id)).sort() : [];
    const [ofLiving, ofLeft] = [files(living.scopeId), files(left.scopeId)];

    expect(await retire(daemon, true)).toMatchObject({ dryRun: true, retired: { bytes: 0 } });
    expect(files(run.scopeId)).toContain('stdout.log');
    const report = await retire(daemon);
    expect(report.retired.bytes).toBeGreaterThan(0);
    expect(report.kept.not_proved).toBeGreaterThanOrEqual(2);
    expect(files(run.scopeId)).toEqual([]);
    expect([files(living.scopeId), files(left.scopeId)]).toEqual([ofLiving, ofLeft]);
    const shown = await daemon.call('runs.show', { id: run.runId });
    expect(shown).toMatchObject({ result: { code: 3 }, scope: { state: 'exited', proof: 'own_receipt' } });
    expect(shown.capture).toContainEqual(
      expect.objectContaining({ stream: 'stdout', complete: false, reason: 'removed after its proof, by retention' }),
    );

    for (const { runId } of [living, left]) await daemon.call('runs.stop', { id: runId });
    await retire(daemon);
    expect([files(living.scopeId), files(left.scopeId)]).toEqual([[], []]);
    await daemon.restart();
    expect((await daemon.call('doctor', {})).checks.filter(({ ok }) => !ok)).toEqual([]);
  });

  it('of a scope whose guardian was lost stay', async () => {
    const daemon = await started();
    const { scopeId } = await lostRun(daemon);
    const before = readdirSync(daemon.scopeDir(scopeId)).sort();
    await retire(daemon);
    await daemon.call('journal.checkpoint', {});
    expect(readdirSync(daemon.scopeDir(scopeId)).sort()).toEqual(before);
    expect(await daemon.scope(scopeId)).toMatchObject({ assessment: { state: 'unverified', certainty: 'gap' } });
  });

  it('of a terminal go with the proof of its scope', async () => {
    const daemon = await started();
    const { sessionId, scopeId } = await opened(daemon, 'echo said; exec cat');
    await retire(daemon);
    expect(existsSync(transcriptOf(daemon, sessionId))).toBe(true);
    const run = (await daemon.call('runs.list', {})).runs.find((one) => one.scopeId === scopeId)!;
    await daemon.call('runs.stop', { id: run.runId });
    await over(daemon, sessionId);
    await daemon.event({ actor: sessionId, type: 'capture.finished' });
    expect(await retire(daemon)).toMatchObject({ retired: { sessions: 1 } });
    expect(existsSync(transcriptOf(daemon, sessionId))).toBe(false);
    expect(await daemon.call('sessions.show', { id: sessionId })).toMatchObject({ sessionId });
  });

  it('behind a link that was put in the place of a directory are left alone', async () => {
    const daemon = await started();
    const { goalId } = await daemon.goal();
    const run = await finished(daemon, goalId);
    const elsewhere = join(daemon.home.dir, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'precious'), 'keep me');
    renameSync(daemon.scopeDir(run.scopeId), join(daemon.home.dir, 'moved'));
    symlinkSync(elsewhere, daemon.scopeDir(run.scopeId));
    await retire(daemon);
    expect(readdirSync(elsewhere)).toEqual(['precious']);
  });
});
