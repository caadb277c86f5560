import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { holdInShell, turns } from '../guardian/support/fifo.ts';
import { innerScope } from '../guardian/support/nestedScopes.ts';
import { inState } from '../guardian/support/processes.ts';
import { program } from '../guardian/support/programs.ts';
import { testDaemon } from '../support/daemon.ts';
import { startReceipt } from '../support/daemonLeftovers.ts';
import { continueGuardian, killGuardian, stopGuardian } from '../support/guardianPair.ts';

describe('STOP-03, SHUT-06: a guardian that dies when everybody was signalled and nobody was reaped', () => {
  it('stalls the drain at once, is named by stop and processes, and a later stop is another attempt', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const [work, tracer] = [turns(daemon.home.dir, 'work'), turns(daemon.home.dir, 'tracer')];
    const { runId, scopeId } = await daemon.exec(goalId, holdInShell(work));
    const pid = await work.ready();
    // Killed, its tracee stays a zombie until the tracer lets go: the drain waits for its proof as long as we want.
    const holding = spawn(program('tree'), ['trace', ...tracer.paths, String(pid)], { stdio: 'ignore' });
    onTestFinished(() => void holding.kill('SIGKILL'));
    await tracer.ready();
    const { guardian } = startReceipt(daemon.scopeDir(scopeId))!;
    const stopping = daemon.attempt('runs.stop', { id: runId, graceMs: 0, budgetMs: 600_000 });
    await daemon.event({ actor: scopeId!, type: 'drain.signalled' });
    killGuardian(guardian);
    expect(await stopping).toMatchObject({
      ok: true,
      exitCode: 5,
      data: { outcome: expect.stringMatching(/^stopped_unverified$|^stalled$/) },
    });
    await daemon.event({ actor: scopeId!, type: 'guardian.observed' }, ({ payload }) => payload.result === 'absent');
    expect(await daemon.scope(scopeId)).toMatchObject({
      termination: 'stalled',
      summary: 'not proved (gap): guardian_gone; its end stalled',
    });

    const again = await daemon.attempt('runs.stop', { id: runId, graceMs: 0 });
    expect(again).toMatchObject({
      ok: true,
      exitCode: 5,
      data: { outcome: 'stopped_unverified' },
      warnings: [`the end of ${scopeId} stalled: inspection failed (guardian_gone)`],
    });
    const asked = await daemon.events({ actor: scopeId!, type: 'drain.requested' });
    expect(asked.map(({ outcome }) => outcome)).toEqual(['changed', 'changed']);
    expect(await daemon.events({ actor: scopeId!, type: 'drain.inspectionFailed' })).toHaveLength(2);
    await tracer.release();
  });
});

describe('SHUT-04, SHUT-08: a nested guardian that does not end', () => {
  it('stalls the drain, is named by stop, and a later stop ends both scopes', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const [work, order] = [turns(daemon.home.dir, 'work'), turns(daemon.home.dir, 'order')];
    const { runId, scopeId } = await daemon.exec(goalId, `read line < '${order.paths[1]}'; eval "$line"`);
    const argv = ['sh', '-c', holdInShell(work)];
    const inner = await innerScope(join(daemon.home.dir, 'inner'), daemon.scopeDir(scopeId), { argv });
    await writeFile(order.paths[1], `${inner.command}\n`);
    await work.ready();
    const { guardian } = startReceipt(inner.directory)!;
    stopGuardian(guardian);
    await inState(guardian.pid, 'T');
    const stop = { id: runId, graceMs: 0, budgetMs: 400 };
    expect(await daemon.attempt('runs.stop', stop)).toMatchObject({
      ok: true,
      exitCode: 5,
      data: { outcome: 'stalled' },
      warnings: [`the end of ${scopeId} stalled: its budget ran out; nested guardians have not ended: ${guardian.pid}`],
    });
    continueGuardian(guardian);
    const again = await daemon.attempt('runs.stop', { ...stop, budgetMs: 600_000 });
    // Asked for again by the daemon itself meanwhile (L-02), it may be over already.
    const outcome = expect.stringMatching(/^proved$|^already_ended$/);
    expect(again).toMatchObject({ ok: true, exitCode: 0, data: { outcome } });
  });
});
