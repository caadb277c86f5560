import { execFileSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlive } from '../guardian/support/processes.ts';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { patienceMs } from '../support/patience.ts';
import { changes, escapee, nextChange, sizeOf } from './support/escapee.ts';

async function escaped(daemon: TestDaemon, onRootExit?: 'terminate' | 'wait') {
  await daemon.start();
  const { goalId, generationId } = await daemon.goal();
  await daemon.event({ actor: generationId, type: 'contract.verified' });
  const { ticks, script } = escapee(daemon);
  const run = await daemon.exec(goalId, script, onRootExit ? { onRootExit } : {});
  return { goalId, generationId, ticks, runId: run.runId, scopeId: run.scopeId };
}

const exitReceipt = (daemon: TestDaemon, scopeId: string | null) => join(daemon.scopeDir(scopeId), 'exit.json');

/** Three of its own ticks later nothing has happened to the file of the escapee. */
async function expectSilence(daemon: TestDaemon, ticks: string): Promise<void> {
  const control = join(daemon.home.dir, 'control');
  writeFileSync(control, '');
  const size = sizeOf(ticks);
  const [escapees, ours] = [changes(ticks), changes(control)];
  const last = nextChange(control);
  execFileSync('sh', ['-c', `for i in 1 2 3; do echo tick >> "${control}"; sleep 0.1; done`]);
  await last;
  expect({ escapee: escapees.count(), size: sizeOf(ticks) }).toEqual({ escapee: 0, size });
  expect(ours.count()).toBeGreaterThan(0);
  for (const watched of [escapees, ours]) watched.close();
}

describe('D1 the escapee', () => {
  it('(a) with onRootExit wait: root ended, tree not drained, and its holder keeps everything (OWN-02, FAULT-11, WT-09)', async () => {
    const daemon = testDaemon();
    const { generationId, ticks, runId, scopeId } = await escaped(daemon, 'wait');
    const ended = await daemon.ended(runId);
    expect(ended).toMatchObject({ state: 'ended', result: { how: 'exited', code: 0 }, scope: { state: 'live' } });
    expect(ended.summary).toMatch(/^root ended, tree not drained; held open by pid \d+ \((sh|sleep)\)$/);
    const scope = await daemon.scope(scopeId);
    expect(scope).toMatchObject({ assessment: { state: 'live' }, holdsSlot: true, termination: 'idle' });
    expect(scope.receipts).toEqual({ start: true, status: true, exit: false });
    expect(existsSync(exitReceipt(daemon, scopeId))).toBe(false);
    const holder = scope.members!.find(({ name }) => name === 'sh')!;
    const { capture } = await daemon.call('runs.show', { id: runId });
    expect(capture).toContainEqual(
      expect.objectContaining({ stream: 'stdout', complete: false, reason: `held open by pid ${holder.pid}` }),
    );
    await daemon.call('worktrees.close', { id: generationId });
    const refusal = await daemon.refusal('worktrees.seal', { id: generationId });
    expect(refusal).toMatchObject({ code: 'seal_refused', exitCode: 13 });
    const { blockers } = refusal.details as { blockers: Array<{ scopeId?: string; holders?: Array<{ pid: number }> }> };
    const blocker = blockers.find((one) => one.scopeId === scopeId);
    expect(blocker?.holders?.map(({ pid }) => pid)).toContain(holder.pid);
    await nextChange(ticks);
    expect((await daemon.call('status', {})).capacity).toMatchObject({ used: 1, scopeIds: [scopeId] });
  });

  it('(a) with the default policy it ends in proof by itself, exit status kept, and the worktree can be sealed', async () => {
    const daemon = testDaemon();
    const { generationId, ticks, runId, scopeId } = await escaped(daemon);
    const proved = await daemon.proved(runId);
    expect(proved).toMatchObject({ state: 'ended', result: { how: 'exited', code: 0 } });
    expect(proved.scope).toEqual({ state: 'exited', proof: 'own_receipt' });
    const [drain] = await daemon.events({ actor: scopeId!, type: 'drain.requested' });
    expect(drain?.payload).toMatchObject({ cause: 'natural' });
    await expectSilence(daemon, ticks);
    const { capture } = await daemon.call('runs.show', { id: runId });
    expect(capture.map(({ complete }) => complete)).toEqual([true, true]);
    await daemon.call('worktrees.close', { id: generationId });
    expect(await daemon.call('worktrees.seal', { id: generationId })).toMatchObject({ lifecycle: 'sealed' });
  });

  it('(b) cancel: the ticks stop, then the receipt (STOP-04, STOP-01)', async () => {
    const daemon = testDaemon();
    const { goalId, ticks, runId, scopeId } = await escaped(daemon, 'wait');
    await daemon.ended(runId);
    const { members } = await daemon.scope(scopeId);
    const cancelled = await daemon.call('goals.cancel', { id: goalId, waitMs: patienceMs });
    expect(cancelled).toMatchObject({ status: 'cancelled', scopes: [{ scopeId, assessment: { state: 'exited' } }] });
    const [last, receipt] = [ticks, exitReceipt(daemon, scopeId)].map(
      (path) => statSync(path, { bigint: true }).mtimeNs,
    );
    expect(last! <= receipt!).toBe(true);
    expect(members!.filter(({ pid }) => isAlive(pid))).toEqual([]);
    await expectSilence(daemon, ticks);
    const events = await daemon.events();
    const position = (actor: string | null, type: string) =>
      events.find((event) => event.actor.id === actor && event.type === type)!.position;
    expect(position(goalId, 'goal.cancelled')).toBeLessThan(position(scopeId, 'drain.requested'));
    expect(position(scopeId, 'drain.requested')).toBeLessThan(position(scopeId, 'guardian.exitReceipt'));
  });
});
