/** Observing through a daemon, which has the store: the same commands, and eyes that look without being asked. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { bind, exit, reserve } from '../ingest/support/notes.ts';
import { job, launcher, Observing } from '../observeOnly/support/observing.ts';
import { testDaemon } from '../support/daemon.ts';
import { cliProgram } from '../support/daemonProcess.ts';

const run = promisify(execFile);

async function observed(env: Readonly<Record<string, string>>, args: readonly string[]) {
  const { stdout } = await run(process.execPath, [cliProgram, 'observe', ...args, '--json'], { env });
  return JSON.parse(stdout);
}

describe('custody observe beside a daemon', () => {
  it('goes through it; a run that ends is seen by the daemon by itself (L-01, OBS-10, ruling 17)', async () => {
    const daemon = await testDaemon().start();
    const env = { ...daemon.home.env, CUSTODY_HOME: daemon.home.stateDir };
    const { process: noted, end } = await job();
    const note = launcher();
    const place = new Observing().place();
    const lines = [
      note(reserve('job-1', { place })),
      note(bind('job-1', { process: noted })),
      note(exit('job-1', 5), 4),
    ];
    const file = new Observing().file(lines);
    const taken = await observed(env, ['ingest', file]);
    expect(taken.data).toMatchObject({ counts: { changed: 3 }, lost: 1 });
    const { runs } = await daemon.call('runs.list', {});
    expect(runs).toMatchObject([{ mode: 'observe', state: 'bound', label: 'a job', goalId: null, scopeId: null }]);
    const { runId, generationId } = runs[0]!;
    // Whoever launched it knows it by this name, and asks for it by it (RUN-01).
    expect(runs[0]).toMatchObject({ launcher: 'shell:job-1' });
    expect(await daemon.call('runs.show', { id: 'shell:job-1' })).toMatchObject({ runId });
    expect(await daemon.refusal('runs.show', { id: 'shell:job-2' })).toMatchObject({ code: 'not_found', exitCode: 3 });
    expect(await daemon.refusal('runs.stop', { id: 'shell:job-1' })).toMatchObject({ code: 'not_controller' });
    const shown = await run(process.execPath, [cliProgram, 'runs', 'list'], { env });
    expect(shown.stdout).toContain('shell:job-1 (a job)');
    expect(await daemon.call('runs.show', { id: runId })).toMatchObject({
      launcherFacts: { identity: { pid: noted.pid }, exitReport: { exitCode: 5, reporter: 'shell' } },
      derived: { state: 'bound', end: null },
    });
    expect(await daemon.call('worktrees.show', { id: generationId! })).toMatchObject({
      authority: 'observe',
      controller: 'shell',
      coverageGaps: 1,
      noted: [{ runId, state: 'active', origin: 'observed' }],
    });
    expect(await daemon.call('worktrees.show', { id: place.path })).toMatchObject({ generationId });
    // Nobody's claim ends it; the kernel does.
    await end();
    await daemon.event({ actor: runId, type: 'process.observed' }, ({ payload }) => payload.result === 'ended');
    expect((await daemon.call('runs.show', { id: runId })).derived.state).toBe('ended');
    expect((await observed(env, ['status'])).data).toMatchObject({ runs: { bound: 0 }, gaps: { open: 1 } });
    expect((await observed(env, ['reconcile', '--once'])).data.pass).toMatchObject({ lookedAt: 0, complete: true });
  });

  it('closes by itself the gaps of an earlier boot (WT-04)', async () => {
    const daemon = await testDaemon().start();
    const { generationId } = await daemon.call('worktrees.register', { path: daemon.home.repo });
    const account = { producer: 'shell', stream: 'd'.repeat(32), taken: 2, lastNoteWallMs: 2 };
    const loss = {
      firstSeq: 1,
      lastSeq: 1,
      fromWallMs: 1,
      toWallMs: 2,
      bootId: '00000000-0000-4000-8000-000000000000',
    };
    await daemon.call('observe.account', { ...account, losses: [loss] });
    expect(await daemon.call('worktrees.show', { id: generationId })).toMatchObject({ coverageGaps: 1 });
    await daemon.restart();
    await daemon.event({ actor: generationId, type: 'coverage.gapClosed' });
    expect(await daemon.call('observe.coverage', { all: false })).toMatchObject({ gaps: [] });
  });
});
