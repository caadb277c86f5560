/** Terminal sessions of a Goal, through the daemon. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { turns } from '../guardian/support/fifo.ts';
import { isAlive, isGone } from '../guardian/support/processes.ts';
import { testDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, killAt } from '../support/daemonFailpoints.ts';
import { signalVerified } from '../support/daemonLeftovers.ts';
import { killGuardian } from '../support/guardianPair.ts';
import { patienceMs } from '../support/patience.ts';
import { occupied } from './support/occupied.ts';
import { guardianOf, opened, over, ptyHostOf, recorded, shows, size } from './support/terminals.ts';

describe('a session', () => {
  it('runs its command in a terminal, and ends as three facts: workload, capture, scope (PTY-01)', async () => {
    const daemon = await testDaemon().start();
    const { sessionId, runId } = await opened(daemon, 'tty -s && echo interactive; exit 7');
    expect(await over(daemon, sessionId)).toMatchObject({
      workload: 'final',
      capture: 'complete',
      result: { how: 'exited', code: 7 },
    });
    expect(recorded(daemon, sessionId)).toBe('interactive\r\n');
    expect(await daemon.proved(runId)).toMatchObject({ result: { code: 7 } });
    expect(await daemon.call('sessions.show', { id: sessionId })).toMatchObject({ scope: 'proved', missing: null });
    expect((await daemon.call('runs.show', { id: runId })).capture).toEqual([
      { stream: 'terminal', bytes: 13, complete: true, reason: null },
    ]);
    expect(await daemon.refusal('runs.result', { id: runId })).toMatchObject({ code: 'in_terminal', exitCode: 2 });
  });

  it('is waited for to the end of its transcript, once nobody is left', async () => {
    const daemon = await testDaemon().start();
    const { goalId: goal } = await daemon.goal();
    for (const lines of [1, 2, 3, 4, 5, 6]) {
      const { runId } = await opened(daemon, `seq 1 ${lines}00`, { goal });
      const { capture } = await daemon.call('runs.wait', { id: runId, until: 'ended' });
      expect(capture).toMatchObject([{ stream: 'terminal', complete: true, reason: null }]);
    }
  });

  it('takes what is sent, shows what a person would see, and changes its size (PTY-08)', async () => {
    const daemon = await testDaemon().start();
    const { sessionId } = await opened(daemon, 'read name; echo "hello $name"; read again; stty size; exec cat');
    const bytes = Buffer.from('world').toString('base64');
    expect(await daemon.call('sessions.send', { id: sessionId, bytes, enter: true })).toMatchObject({ bytes: 6 });
    await shows(daemon, sessionId, 'hello world');
    await daemon.call('sessions.resize', { id: sessionId, cols: 100, rows: 30 });
    await daemon.call('sessions.send', { id: sessionId, bytes: '', enter: true });
    await shows(daemon, sessionId, '30 100');
    const screen = await daemon.call('sessions.screen', { id: sessionId });
    expect(screen).toMatchObject({ cols: 100, rows: 30, cursor: { visible: true } });
    expect(screen.lines.slice(0, 2)).toEqual(['world', 'hello world']);
    const journal = JSON.stringify(await daemon.events({ actor: sessionId }));
    expect(journal).not.toContain('world');
  });

  it('is sent nothing twice by a repeated request', async () => {
    const daemon = await testDaemon().start();
    const { sessionId } = await opened(daemon, 'stty -echo; echo ready; exec cat');
    await shows(daemon, sessionId, 'ready');
    const request = { id: sessionId, bytes: Buffer.from('once').toString('base64'), enter: true, requestId: 'same' };
    const both = [daemon.call('sessions.send', request), daemon.call('sessions.send', request)];
    expect((await Promise.all(both)).map(({ bytes }) => bytes)).toEqual([5, 5]);
    await shows(daemon, sessionId, 'once');
    expect(await daemon.attempt('sessions.send', request)).toMatchObject({ ok: true, data: { bytes: 5 } });
    await daemon.call('sessions.send', {
      id: sessionId,
      bytes: Buffer.from('end\n\x04').toString('base64'),
      paste: 'never',
    });
    await over(daemon, sessionId);
    expect(recorded(daemon, sessionId)).toBe('ready\r\nonce\r\nend\r\n');
  });

  it('takes the request id of one change for no other, and undoes none by a repeated request (STOP-08)', async () => {
    const daemon = await testDaemon().start();
    const { sessionId: id } = await opened(daemon, 'stty -echo; echo ready; exec cat');
    await shows(daemon, id, 'ready');
    const wide = { id, cols: 100, rows: 30, requestId: 'wide' };
    await daemon.call('sessions.resize', wide);
    await daemon.call('sessions.resize', { id, cols: 90, rows: 20, requestId: 'narrow' });
    expect(await daemon.attempt('sessions.resize', wide)).toMatchObject({ ok: true, warnings: [expect.any(String)] });
    expect(await daemon.call('sessions.show', { id })).toMatchObject({ cols: 90, rows: 20 });
    const conflict = { code: 'event_id_conflict', exitCode: 11 };
    expect(await daemon.refusal('sessions.resize', { ...wide, cols: 80 })).toMatchObject(conflict);
    const bytes = Buffer.from('lost').toString('base64');
    expect(await daemon.refusal('sessions.send', { id, bytes, requestId: 'wide' })).toMatchObject(conflict);
    await daemon.call('sessions.send', { id, bytes, requestId: 'typed' });
    expect(await daemon.refusal('sessions.resize', { ...wide, requestId: 'typed' })).toMatchObject(conflict);
  });

  it('says by name what cannot be done with one that is over', async () => {
    const daemon = await testDaemon().start();
    const { sessionId } = await opened(daemon, 'true');
    await over(daemon, sessionId);
    const ended = { code: 'session_ended', exitCode: 13 };
    expect(await daemon.refusal('sessions.send', { id: sessionId, bytes: '' })).toMatchObject(ended);
    expect(await daemon.refusal('sessions.resize', { id: sessionId, ...size })).toMatchObject(ended);
    expect(await daemon.refusal('sessions.screen', { id: sessionId })).toMatchObject(ended);
    expect(await daemon.refusal('sessions.show', { id: 'P-nobody' })).toMatchObject({ code: 'not_found', exitCode: 3 });
  });

  it('whose transcript has no place is not launched, and the way out is about that place', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const transcripts = join(daemon.home.stateDir, 'transcripts');
    rmSync(transcripts, { recursive: true, force: true });
    writeFileSync(transcripts, '');
    const refusal = await daemon.refusal('runs.exec', { ...daemon.launchArguments(goalId, 'true'), terminal: size });
    expect(refusal).toMatchObject({ code: 'spawn_failed', next: [expect.stringContaining('transcripts/')] });
    rmSync(transcripts);
    const { sessionId } = await opened(daemon, 'true');
    expect(await over(daemon, sessionId)).toMatchObject({ capture: 'complete' });
  });

  it('whose command cannot be executed has failed at its launch, and its capture is closed (PTY-02)', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const refusal = await daemon.refusal('runs.exec', {
      ...daemon.launchArguments(goalId, ''),
      argv: ['/nonexistent'],
      terminal: size,
    });
    expect(refusal).toMatchObject({ code: 'exec_failed', details: { errno: 2 } });
    const { sessions } = await daemon.call('sessions.list', { all: true });
    const settled = await over(daemon, sessions[0]!.sessionId);
    expect(settled).toMatchObject({ workload: 'final', firstFailure: { cause: 'launch' } });
  });
});

describe('deadlines of a session (PTY-04, PTY-09)', () => {
  it.each([
    { kind: 'hard', options: { timeoutMs: 6_000 }, script: 'while :; do echo tick; sleep 0.1; done' },
    { kind: 'startup', options: { terminal: { startupMs: 6_000 } }, script: 'exec sleep 600' },
    { kind: 'idle', options: { terminal: { idleMs: 6_000 } }, script: 'echo once; exec sleep 600' },
  ])('$kind: ends everything, and is the first failure', async ({ kind, options, script }) => {
    const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '50' } }).start();
    const { sessionId, runId } = await opened(daemon, `setsid sleep 600 & ${script}`, options);
    expect(await over(daemon, sessionId)).toMatchObject({
      firstFailure: { cause: 'deadline', reason: kind },
      structured: null,
    });
    expect(await daemon.proved(runId)).toMatchObject({ scope: { state: 'exited' } });
  });

  it('idle: output moves it, journaled or not', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '50' } }).start();
    const turn = turns(daemon.home.dir);
    const script = `for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 1; done; echo $$ > ${turn.paths[0]}; exec sleep 600`;
    const { sessionId } = await opened(daemon, script, { terminal: { idleMs: 8_000 } });
    await turn.ready();
    expect(await daemon.call('sessions.show', { id: sessionId })).toMatchObject({ firstFailure: null });
    expect(await over(daemon, sessionId)).toMatchObject({ firstFailure: { cause: 'deadline', reason: 'idle' } });
  });
});

describe('a wait for what a session shows', () => {
  it('keeps no daemon from leaving, and ends with whoever waits', async () => {
    const daemon = await testDaemon().start();
    const { sessionId } = await opened(daemon, 'echo here; exec cat');
    await shows(daemon, sessionId, 'here');
    const waiting = daemon.attempt('sessions.wait', {
      id: sessionId,
      until: { kind: 'text', text: 'never' },
      waitMs: 600_000,
    });
    await daemon.call('daemon.stop', { keepWork: true });
    expect(await waiting).toMatchObject({ ok: false, error: { code: 'daemon_leaving' } });
    await daemon.process.exited;
  });
});

describe('whoever dies', () => {
  it('the daemon: the session goes on, and its end is learned once (D2, PTY-10)', async () => {
    const daemon = await testDaemon().start();
    const turn = turns(daemon.home.dir);
    const script = `echo before; echo $$ > ${turn.paths[0]}; read go < ${turn.paths[1]}; echo after; exit 7`;
    const { sessionId, scopeId } = await opened(daemon, script);
    await turn.ready();
    const holder = ptyHostOf(daemon);
    await daemon.kill();
    await turn.release();
    await isGone(guardianOf(daemon, scopeId).pid);
    await daemon.start();
    expect(ptyHostOf(daemon)).toEqual(holder);
    expect(await over(daemon, sessionId)).toMatchObject({
      capture: 'complete',
      result: { code: 7 },
      firstFailure: null,
    });
    expect(recorded(daemon, sessionId)).toBe('before\r\nafter\r\n');
    const ends = await daemon.events({ actor: sessionId, type: 'workload.statusReceipt' });
    expect(ends).toHaveLength(1);
  });

  it('the PTY host: the session is interrupted, settled by its receipts, and the next has a new host (PTY-10)', async () => {
    const daemon = await testDaemon().start();
    const first = await opened(daemon, 'echo here; exec sleep 600');
    await shows(daemon, first.sessionId, 'here');
    const holder = ptyHostOf(daemon);
    signalVerified(holder, 'SIGKILL');
    expect(await over(daemon, first.sessionId)).toMatchObject({
      interrupted: true,
      capture: 'incomplete',
      missing: 'hostLost',
      result: { how: 'signaled', signal: 1 },
    });
    expect(await daemon.proved(first.runId)).toMatchObject({ scope: { state: 'exited' } });
    const second = await opened(daemon, 'echo again');
    expect(await over(daemon, second.sessionId)).toMatchObject({ capture: 'complete', result: { code: 0 } });
    expect(ptyHostOf(daemon)).not.toEqual(holder);
  });

  it('the PTY host: how much there was is what is stored, not what the last report happened to say', async () => {
    const daemon = await testDaemon().start();
    const { sessionId } = await opened(daemon, 'stty -echo; echo here; read go; seq 1 1000; echo all; exec sleep 600');
    await shows(daemon, sessionId, 'here');
    await daemon.call('sessions.send', { id: sessionId, bytes: '', enter: true });
    await shows(daemon, sessionId, 'all');
    await daemon.kill();
    signalVerified(ptyHostOf(daemon), 'SIGKILL');
    await daemon.start();
    const { bytes } = await over(daemon, sessionId);
    expect(bytes).toBe(recorded(daemon, sessionId).length);
    expect(bytes).toBeGreaterThan(4_000);
  });

  it('nobody: a holder that is stopped says nothing, and no silence is held against its agent (ruling 9, PTY-09)', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '50' } }).start();
    const script = 'while :; do echo tick; sleep 0.2; done';
    const { sessionId } = await opened(daemon, script, { terminal: { idleMs: 6_000 } });
    await shows(daemon, sessionId, 'tick');
    const holder = ptyHostOf(daemon);
    const opening = (await daemon.events({ actor: sessionId, type: 'session.opened' }))[0]!;
    signalVerified(holder, 'SIGSTOP');
    // The deadline has to pass for there to be something that must not follow from it.
    await expect.poll(() => Date.now() - opening.wallMs > 10_000, { timeout: patienceMs }).toBe(true);
    expect(await daemon.events({ actor: sessionId, type: 'deadline.reached' })).toEqual([]);
    signalVerified(holder, 'SIGCONT');
    await shows(daemon, sessionId, 'tick');
    expect(await daemon.call('sessions.show', { id: sessionId })).toMatchObject({ workload: 'running.working' });
  });

  it('both: the next daemon finds the terminal gone and the receipts there', async () => {
    const daemon = await testDaemon().start();
    const { sessionId, runId } = await opened(daemon, 'echo here; exec sleep 600');
    await shows(daemon, sessionId, 'here');
    await daemon.kill();
    signalVerified(ptyHostOf(daemon), 'SIGKILL');
    await daemon.start();
    expect(await over(daemon, sessionId)).toMatchObject({ interrupted: true, capture: 'incomplete' });
    expect(await daemon.proved(runId)).toMatchObject({ scope: { state: 'exited' } });
  });

  it('the guardian: the terminal stays, nothing is proved, and a stop ends the capture as incomplete (77)', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '0' } }).start();
    const { sessionId, scopeId, runId } = await opened(daemon, 'echo here; exec cat');
    await shows(daemon, sessionId, 'here');
    const workload = (await daemon.call('sessions.show', { id: sessionId })).workloadPid!;
    killGuardian(guardianOf(daemon, scopeId));
    await daemon.call('sessions.send', { id: sessionId, bytes: Buffer.from('still').toString('base64'), enter: true });
    await shows(daemon, sessionId, 'still');
    expect(isAlive(workload)).toBe(true);
    expect(await daemon.attempt('runs.stop', { id: runId })).toMatchObject({ ok: true, exitCode: 5 });
    expect(await over(daemon, sessionId)).toMatchObject({
      workload: 'indeterminate',
      capture: 'incomplete',
      scope: 'unverified',
    });
    expect(recorded(daemon, sessionId)).toContain('still');
  });

  it('the guardian, and then the daemon before it said that no status will come: the next one says it (L-15)', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '0' } }).start(failingDaemonCommand());
    const { sessionId, scopeId, runId } = await opened(daemon, 'echo here; exec cat');
    await shows(daemon, sessionId, 'here');
    await killAt(daemon, { at: 'after_journal_insert', of: 'workload.endedWithoutStatus' });
    killGuardian(guardianOf(daemon, scopeId));
    await daemon.attempt('runs.stop', { id: runId }).catch(() => undefined);
    await daemon.process.exited;
    await daemon.start();
    expect(await over(daemon, sessionId)).toMatchObject({ workload: 'indeterminate', scope: 'unverified' });
  });
});

describe('a store that takes nothing', () => {
  it('as a session ends is told again: capture and status are learned without a restart (K5)', async () => {
    const daemon = await testDaemon().start();
    const { sessionId } = await opened(daemon, 'echo here; exec cat');
    await shows(daemon, sessionId, 'here');
    const { workloadPid } = await daemon.call('sessions.show', { id: sessionId });
    const letGo = occupied(daemon);
    process.kill(workloadPid!, 'SIGKILL');
    const log = join(daemon.home.stateDir, 'log', 'daemon.log');
    await expect
      .poll(() => readFileSync(log, 'utf8'), { timeout: patienceMs })
      .toContain('what the PTY host reported could not be committed');
    letGo();
    expect(await over(daemon, sessionId)).toMatchObject({
      capture: 'complete',
      result: { how: 'signaled', signal: 9 },
    });
  });

  it('as the PTY host dies is told again: the session is interrupted', async () => {
    const daemon = await testDaemon().start();
    const { sessionId } = await opened(daemon, 'echo here; exec cat');
    await shows(daemon, sessionId, 'here');
    const letGo = occupied(daemon);
    signalVerified(ptyHostOf(daemon), 'SIGKILL');
    const log = join(daemon.home.stateDir, 'log', 'daemon.log');
    await expect
      .poll(() => readFileSync(log, 'utf8'), { timeout: patienceMs })
      .toContain('what the PTY host reported could not be committed');
    letGo();
    expect(await over(daemon, sessionId)).toMatchObject({ capture: 'incomplete', interrupted: true });
  });
});

describe('stop', () => {
  it('ends a session with what it left behind; a second one returns the first result (D10)', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_GRACE_MS: '50' } }).start();
    const { sessionId, runId } = await opened(daemon, 'setsid sleep 600 & echo here; exec cat');
    await shows(daemon, sessionId, 'here');
    const stopped = await daemon.call('runs.stop', { id: runId });
    expect(stopped).toMatchObject({ outcome: 'proved' });
    expect(await over(daemon, sessionId)).toMatchObject({
      firstFailure: { cause: 'stop' },
      capture: 'complete',
      scope: 'proved',
    });
    expect(await daemon.call('runs.stop', { id: runId })).toMatchObject({ assessment: stopped.assessment });
  });

  it('of the daemon sends the PTY host home as well (ruling 20)', async () => {
    const daemon = await testDaemon().start();
    const { sessionId } = await opened(daemon, 'echo here; exec cat');
    await shows(daemon, sessionId, 'here');
    const holder = ptyHostOf(daemon);
    await daemon.call('daemon.stop', {});
    await isGone(holder.pid);
  });

  it('with --keep-work leaves host and session alone (ruling 21)', async () => {
    const daemon = await testDaemon().start();
    const { sessionId } = await opened(daemon, 'echo here; exec cat');
    await shows(daemon, sessionId, 'here');
    const holder = ptyHostOf(daemon);
    await daemon.call('daemon.stop', { keepWork: true });
    await daemon.process.exited;
    await daemon.start();
    expect(ptyHostOf(daemon)).toEqual(holder);
    expect(await daemon.call('sessions.show', { id: sessionId })).toMatchObject({
      workload: 'running.working',
      viewers: 0,
    });
  });
});
