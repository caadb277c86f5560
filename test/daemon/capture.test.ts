import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CaptureView } from '../../actors/daemon/api/views.ts';
import { turns } from '../guardian/support/fifo.ts';
import { TestDaemon, testDaemon } from '../support/daemon.ts';
import { daemonHome } from '../support/daemonHome.ts';
import { daemonOnSmallDisk } from '../support/daemonMount.ts';

interface Heard {
  readonly stdout: string;
  readonly stderr: string;
  readonly end: readonly CaptureView[];
}

async function follow(daemon: TestDaemon, id: string, until?: 'ended' | 'proved'): Promise<Heard> {
  const heard = { stdout: '', stderr: '' };
  type Line = { stream: 'stdout' | 'stderr'; data: string } | { end: readonly CaptureView[] };
  const args = { id, follow: true, ...(until ? { until } : {}) };
  for await (const line of daemon.client.stream<Line>('runs.logs', args)) {
    if ('end' in line) return { ...heard, end: line.end };
    heard[line.stream] += Buffer.from(line.data, 'base64').toString('latin1');
  }
  throw new Error('the stream had no end');
}

/** A guardian on a busy machine may take longer to say who is left, and then nobody is named. */
const patient = { CUSTODY_RESPONSE_MS: '20000' };

/** Stays when the leader has ended, with the named streams, and says its pid first. */
const descendant = {
  silent: 'exec sleep 600',
  // More often than finalDrainMs, so that only the join bound ends it.
  writing: 'while :; do printf "%1000s" x; printf "%1000s" x >&2; sleep 0.02; done',
};
const closed = { stdout: '2>/dev/null', stderr: '>/dev/null', both: '' };

/** One for a whole group: every start of a daemon costs seconds on a busy machine. */
function sharedDaemon(env: Readonly<Record<string, string>>) {
  const shared = { daemon: new TestDaemon(daemonHome({ env })), goalId: '' };
  beforeAll(async () => {
    await shared.daemon.start();
    ({ goalId: shared.goalId } = await shared.daemon.goal());
  });
  afterAll(() => shared.daemon.dispose());
  return shared;
}

describe('CAP-02: the final drain returns the output of the leader, whoever holds it open', () => {
  const shared = sharedDaemon({ CUSTODY_CAPTURE_JOIN_MS: '400', ...patient });

  for (const held of ['stdout', 'stderr', 'both'] as const) {
    it.each(['silent', 'writing'] as const)(`${held}, %s`, async (manner) => {
      const { daemon, goalId } = shared;
      const turn = turns(daemon.home.dir, `${held}-${manner}`);
      const script = `
        (setsid sh -c 'echo $$ > "${turn.paths[0]}"; read go < "${turn.paths[1]}"; ${descendant[manner]}' ${closed[held]} &)
        for n in 1 2 3; do echo "out $n"; echo "err $n" >&2; done
        exit 9`;
      const { runId, scopeId } = await daemon.exec(goalId, script, { onRootExit: 'wait' });
      const pid = Number(await turn.ready());
      await turn.release();
      const { stdout, stderr, end } = await follow(daemon, runId);
      expect(stdout.replace(/ *x/g, '')).toBe('out 1\nout 2\nout 3\n');
      expect(stderr.replace(/ *x/g, '')).toBe('err 1\nerr 2\nerr 3\n');
      for (const { stream, complete, reason } of end) {
        const isHeld = held === 'both' || held === stream;
        expect(complete).toBe(false);
        // A child of a shell that writes may be named as well.
        expect(reason).toMatch(isHeld ? /^held open by pid \d+$/ : /^the tree is not proved to be gone$/);
        if (isHeld && manner === 'silent') expect(reason).toBe(`held open by pid ${pid}`);
      }
      // The call is over and the record is not: it ends with the proof.
      const shown = await daemon.call('runs.show', { id: runId });
      expect(shown).toMatchObject({ result: { code: 9 }, scope: { state: 'live' } });
      expect((await daemon.scope(scopeId)).holdsSlot).toBe(true);
      await daemon.call('runs.stop', { id: runId, graceMs: 0 });
      const { capture } = await daemon.call('runs.show', { id: runId });
      expect(capture.map(({ complete }) => complete)).toEqual([true, true]);
    });
  }

  it('goes on to the proof for whoever asks for that', async () => {
    const { daemon, goalId } = shared;
    const turn = turns(daemon.home.dir, 'late');
    const script = `(setsid sh -c 'echo $$ > "${turn.paths[0]}"; read go < "${turn.paths[1]}"; echo late' &); echo early`;
    const { runId } = await daemon.exec(goalId, script, { onRootExit: 'wait' });
    await turn.ready();
    await daemon.ended(runId);
    expect(await follow(daemon, runId)).toMatchObject({ stdout: 'early\n' });
    const following = follow(daemon, runId, 'proved');
    await turn.release();
    expect(await following).toMatchObject({ stdout: 'early\nlate\n', end: [{ complete: true }, { complete: true }] });
  });
});

describe('CAP-01, CAP-03, CAP-05: what a captured run is worth', () => {
  it('its status comes with the evidence of its output while the scope lives, keeps its slot and its artifacts, and refuses the seal', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_CAPACITY: '1', ...patient } }).start();
    const { goalId, generationId } = await daemon.goal();
    const { runId, scopeId } = await daemon.exec(goalId, '(setsid sleep 600 &); exit 9', { onRootExit: 'wait' });
    const ended = await daemon.ended(runId);
    expect(ended).toMatchObject({ result: { how: 'exited', code: 9 }, scope: { state: 'live' } });
    const incomplete = { complete: false, reason: expect.stringMatching(/^held open by pid \d+$/) };
    expect(ended.capture).toEqual([
      { stream: 'stdout', bytes: 0, ...incomplete },
      { stream: 'stderr', bytes: 0, ...incomplete },
    ]);
    expect((await daemon.refusal('runs.exec', daemon.launchArguments(goalId, 'true'))).exitCode).not.toBe(0);
    await daemon.call('worktrees.close', { id: generationId });
    expect(await daemon.refusal('worktrees.seal', { id: generationId })).toMatchObject({ code: 'seal_refused' });
    expect((await daemon.call('goals.show', { id: goalId })).status).toBe('todo');
    await daemon.call('runs.stop', { id: runId, graceMs: 0 });
    expect((await daemon.scope(scopeId)).holdsSlot).toBe(false);
    expect((await daemon.call('goals.show', { id: goalId })).status).toBe('todo');
  });
});

describe('CAP-04, I-33: a machine-readable result', () => {
  const shared = sharedDaemon(patient);

  it('is the parsed output of a run that is complete', async () => {
    const { daemon, goalId } = shared;
    const { runId } = await daemon.exec(goalId, `echo '{"answer": 42}'; echo '[1]' >&2; exit 3`);
    await daemon.proved(runId);
    expect(await daemon.call('runs.result', { id: runId })).toEqual({
      runId,
      stream: 'stdout',
      bytes: 15,
      value: { answer: 42 },
    });
    expect((await daemon.call('runs.result', { id: runId, stream: 'stderr' })).value).toEqual([1]);
  });

  it('is refused while somebody could still write, although what is there parses', async () => {
    const { daemon, goalId } = shared;
    const { runId } = await daemon.exec(goalId, 'echo 12; (setsid sleep 600 &)', { onRootExit: 'wait' });
    await daemon.ended(runId);
    expect(await daemon.refusal('runs.result', { id: runId })).toMatchObject({
      code: 'capture_incomplete',
      exitCode: 13,
      details: { stream: 'stdout', reason: expect.stringMatching(/^held open by pid/) },
    });
    await daemon.call('runs.stop', { id: runId, graceMs: 0 });
    expect((await daemon.call('runs.result', { id: runId })).value).toBe(12);
  });

  it('is refused when it is longer than captureMemoryBytes; the run itself is not touched and its file is whole', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_CAPTURE_MEMORY_BYTES: '3' } }).start();
    const { goalId } = await daemon.goal();
    const { runId } = await daemon.exec(goalId, 'echo 123456');
    await daemon.proved(runId);
    const refusal = await daemon.refusal('runs.result', { id: runId });
    expect(refusal).toMatchObject({ code: 'capture_incomplete', exitCode: 13 });
    expect(refusal.message).toContain('has 7 bytes and only 3 are read (captureMemoryBytes)');
    expect(await follow(daemon, runId)).toMatchObject({ stdout: '123456\n', end: [{ complete: true }, {}] });
    expect(await daemon.call('runs.show', { id: runId })).toMatchObject({ result: { code: 0 } });
  });

  it('that is none is refused without repeating what was printed', async () => {
    const { daemon, goalId } = shared;
    const { runId } = await daemon.exec(goalId, 'echo "secret-canary"');
    await daemon.proved(runId);
    const refusal = await daemon.refusal('runs.result', { id: runId });
    expect(refusal).toMatchObject({ code: 'result_invalid', exitCode: 13 });
    expect(JSON.stringify(refusal)).not.toContain('canary');
  });
});

describe('CAP-06, ruling 10: output that found no room', () => {
  it('is never called complete: what was written and what the system said stay, also for the next daemon, and nobody is ended', async () => {
    const { daemon, fill, free } = await daemonOnSmallDisk('6m');
    await daemon.start();
    const { goalId, generationId } = await daemon.goal();
    await daemon.event({ actor: generationId, type: 'contract.verified' });
    const [before, after] = [turns(daemon.home.dir, 'before'), turns(daemon.home.dir, 'after')];
    const hold = ({ paths }: typeof before) => `echo $$ > "${paths[0]}"; read go < "${paths[1]}"`;
    const script = `echo partial; echo started >&2; ${hold(before)}; head -c 100000 /dev/zero; ${hold(after)}; exit 4`;
    const { runId, scopeId } = await daemon.exec(goalId, script);
    await before.ready();
    fill();
    await before.release();
    await after.ready();
    const fault = { complete: false, reason: expect.stringContaining('no space left on device (ENOSPC)') };
    const shown = async () => (await daemon.call('runs.show', { id: runId })).capture;
    await expect.poll(shown, { timeout: 30_000 }).toMatchObject([fault, fault]);
    free();
    await after.release();
    expect(await daemon.proved(runId)).toMatchObject({ result: { how: 'exited', code: 4 }, capture: [fault, fault] });
    const { stdout, stderr, end } = await follow(daemon, runId);
    expect(stdout).toMatch(/^partial\n/);
    expect(stdout.length).toBeLessThan(100_000);
    expect(stderr).toMatch(/^started\n.*No space left on device/);
    expect(end).toMatchObject([fault, fault]);
    expect(await daemon.refusal('runs.result', { id: runId })).toMatchObject({ code: 'capture_incomplete' });
    await daemon.restart();
    expect(await shown()).toMatchObject([fault, fault]);
    const next = await daemon.exec(goalId, 'echo 1');
    expect((await daemon.proved(next.runId)).capture).toMatchObject([{ complete: true }, { complete: true }]);
    expect(scopeId).not.toBe(next.scopeId);
  });

  it('hard deadlines stay effective while descendants hold the output', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const options = { onRootExit: 'wait' as const, timeoutMs: 10_000 };
    const { runId } = await daemon.exec(goalId, 'echo done; (setsid sleep 600 &)', options);
    expect((await follow(daemon, runId)).stdout).toBe('done\n');
    expect(await daemon.proved(runId)).toMatchObject({ scope: { state: 'exited' }, capture: [{ complete: true }, {}] });
  });
});
