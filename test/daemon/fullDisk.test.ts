import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../actors/daemon/api/views.ts';
import { turns } from '../guardian/support/fifo.ts';
import { isGone } from '../guardian/support/processes.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startReceipt } from '../support/daemonLeftovers.ts';
import { daemonOnSmallDisk } from '../support/daemonMount.ts';

interface Launched {
  readonly runId: string;
  readonly scopeId: string | null;
}

/** The log may have a little room left, and a launch finds space that was reserved for it: that is not endless. */
async function launchUntilRefused(
  daemon: TestDaemon,
  goalId: string,
): Promise<{ launched: Launched[]; refusal: ApiError }> {
  const launched: Launched[] = [];
  for (let nth = 0; nth < 200; nth += 1) {
    const reply = await daemon.attempt(
      'runs.exec',
      daemon.launchArguments(goalId, 'exit 4', { requestId: `full-${nth}` }),
    );
    if (!reply.ok) return { launched, refusal: reply.error };
    launched.push(reply.data);
  }
  throw new Error('a full disk refused nothing');
}

async function expectReadable(daemon: TestDaemon, run: Launched, goalId: string): Promise<void> {
  expect((await daemon.call('status', {})).capacity.scopeIds).toContain(run.scopeId);
  expect((await daemon.call('runs.list', {})).runs.map(({ runId }) => runId)).toContain(run.runId);
  expect(await daemon.call('runs.show', { id: run.runId })).toMatchObject({ runId: run.runId, state: 'bound' });
  expect(await daemon.call('goals.show', { id: goalId })).toMatchObject({ goalId, status: 'todo' });
  expect((await daemon.events({ actor: run.runId })).length).toBeGreaterThan(1);
  expect((await daemon.call('processes', {})).scopes.map(({ scopeId }) => scopeId)).toContain(run.scopeId);
}

describe('FAULT-08, JRN-10, linux cases 26 and 27: the disk is full', () => {
  it('launches and changes are refused by name, reads go on, receipts are complete, and with space everything goes on', async () => {
    const { daemon, fill, free } = await daemonOnSmallDisk('6m');
    await daemon.start();
    const { goalId, generationId } = await daemon.goal();
    await daemon.event({ actor: generationId, type: 'contract.verified' });
    const turn = turns(daemon.home.dir);
    const run = await daemon.exec(goalId, `echo $$ > "${turn.paths[0]}"; read line < "${turn.paths[1]}"; exit 7`);
    await turn.ready();
    fill();
    const { launched, refusal } = await launchUntilRefused(daemon, goalId);
    expect(refusal).toMatchObject({
      code: expect.stringMatching(/^(store_full|evidence_unavailable)$/),
      exitCode: 10,
      retryable: true,
    });
    expect(refusal.next.join()).toContain('free space');
    const change = {
      title: 'another',
      repo: daemon.home.repo,
      request: 'x'.repeat(10_000),
      requestId: 'on a full disk',
    };
    expect(await daemon.refusal('goals.add', change)).toMatchObject({ exitCode: 10 });
    expect(readdirSync(daemon.inside(join(daemon.home.stateDir, 'requests')))).toHaveLength(1);
    await expectReadable(daemon, run, goalId);

    // Its space was reserved before it was launched.
    const { guardian } = startReceipt(daemon.scopeDir(run.scopeId))!;
    await turn.release();
    await isGone(guardian.pid);
    expect(existsSync(join(daemon.scopeDir(run.scopeId), 'exit.json'))).toBe(true);
    const { receipts } = await daemon.call('runs.show', { id: run.runId });
    expect(receipts.map(({ status }) => status)).toEqual(['authentic', 'authentic', 'authentic']);

    free();
    expect(await daemon.proved(run.runId)).toMatchObject({
      result: { code: 7 },
      scope: { state: 'exited', proof: 'own_receipt' },
    });
    for (const { runId } of launched) expect(await daemon.proved(runId)).toMatchObject({ result: { code: 4 } });
    expect((await daemon.call('goals.add', change)).title).toBe('another');
    const again = await daemon.exec(goalId, 'exit 9');
    expect(await daemon.proved(again.runId)).toMatchObject({ result: { code: 9 } });
    expect((await daemon.call('doctor', {})).checks.filter(({ ok }) => !ok)).toEqual([]);
  });

  it('a daemon that cannot write does not serve, says so with exit code 10, and loses nothing', async () => {
    const { daemon, fill, free } = await daemonOnSmallDisk('6m');
    await daemon.start();
    const { goalId } = await daemon.goal();
    await daemon.kill('SIGTERM');
    fill();
    await expect(daemon.start()).rejects.toMatchObject({
      error: { code: expect.stringMatching(/^store_(full|io)$/), exitCode: 10, retryable: true },
    });
    free();
    await daemon.start();
    expect(await daemon.call('goals.show', { id: goalId })).toMatchObject({ goalId, status: 'todo' });
  });
});
