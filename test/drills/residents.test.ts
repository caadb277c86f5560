/** D1(c): a root that leaves a declared resident behind. */
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { turns } from '../guardian/support/fifo.ts';
import { isAlive } from '../guardian/support/processes.ts';
import { type ExecOptions, type TestDaemon, testDaemon } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';

const resident = 'resident-server';

/** Leaves a process of that command name in a session of its own, which writes what it is told to, and exits 0. */
function leaving(daemon: TestDaemon, name: string, command = resident) {
  const turn = turns(daemon.home.dir, name);
  const program = join(daemon.home.dir, command);
  if (!existsSync(program)) symlinkSync('/bin/sh', program);
  const [ready, release] = turn.paths;
  const up = join(daemon.home.dir, `${name}.up`);
  // The root does not leave before the other one is out of its session, where its end would hang it up.
  const body = `trap "" HUP; echo up > "${up}"; echo $$ > "${ready}"; read line < "${release}"`;
  const script = `mkfifo "${up}"; setsid "${program}" -c '${body}' & read line < "${up}"; exit 0`;
  return { turn, script };
}

const declared = (stop: 'with-worktree' | 'keep' = 'with-worktree'): ExecOptions => ({
  residents: [{ name: resident, stop }],
});

async function left(daemon: TestDaemon, options: ExecOptions = declared()) {
  const goal = await daemon.goal();
  const { turn, script } = leaving(daemon, `turn-${goal.goalId}`);
  const { runId, scopeId } = await daemon.exec(goal.goalId, script, options);
  const pid = await turn.ready();
  await daemon.ended(runId);
  return { ...goal, turn, runId, scopeId: scopeId!, pid };
}

const alone = (daemon: TestDaemon, scopeId: string) =>
  daemon.event({ actor: scopeId, type: 'residents.observed' }, ({ payload }) => payload.alone === true);

describe('D1(c): the root exits and the child was declared a resident', () => {
  it('the slot is freed, the generation is not, nothing is proved; so it stays under the next daemon', async () => {
    const daemon = await testDaemon({ env: { CUSTODY_CAPACITY: '1' } }).start();
    const { scopeId, generationId, goalId, pid } = await left(daemon);
    await alone(daemon, scopeId);
    const check = async () => {
      expect(await daemon.scope(scopeId)).toMatchObject({
        assessment: { state: 'live' },
        holdsSlot: false,
        summary: `root ended, left to residents: ${resident}`,
        receipts: { exit: false },
      });
      expect((await daemon.call('status', {})).capacity.used).toBe(0);
    };
    await check();
    const { runId } = await daemon.exec(goalId, 'exit 3');
    expect(await daemon.proved(runId)).toMatchObject({ result: { code: 3 } });
    await daemon.restart();
    await check();
    expect(isAlive(pid)).toBe(true);
    expect(await daemon.refusal('worktrees.seal', { id: generationId })).toMatchObject({
      code: 'seal_refused',
      exitCode: 13,
    });
  });

  it('the same child undeclared, or somebody else beside it, keeps the slot', async () => {
    const daemon = await testDaemon().start();
    const undeclared = await left(daemon, { onRootExit: 'wait' });
    const goal = await daemon.goal();
    const [one, other] = [leaving(daemon, 'one'), leaving(daemon, 'other', 'stranger')];
    const script = `(${one.script}); (${other.script}); exit 0`;
    const { runId, scopeId } = await daemon.exec(goal.goalId, script, declared());
    await Promise.all([one.turn.ready(), other.turn.ready()]);
    await daemon.ended(runId);
    const passes = async () => {
      const { capacity } = await daemon.call('status', {});
      return [...capacity.scopeIds].sort();
    };
    expect(await passes()).toEqual([undeclared.scopeId, scopeId!].sort());
    await other.turn.release();
    await alone(daemon, scopeId!);
    expect(await passes()).toEqual([undeclared.scopeId]);
    expect(await daemon.events({ actor: undeclared.scopeId, type: 'residents.observed' })).toEqual([]);
    // The last one goes by itself, and that is proved as ever.
    await one.turn.release();
    expect(await daemon.proved(runId)).toMatchObject({ scope: { state: 'exited', proof: 'own_receipt' } });
  });

  it('is ended with its worktree, which can be sealed then', async () => {
    const daemon = await testDaemon().start();
    const { scopeId, generationId, runId } = await left(daemon);
    await alone(daemon, scopeId);
    await daemon.call('worktrees.close', { id: generationId });
    expect(await daemon.proved(runId)).toMatchObject({ scope: { proof: 'own_receipt' } });
    const [drain] = await daemon.events({ actor: scopeId, type: 'drain.requested' });
    expect(drain?.payload).toMatchObject({ cause: 'completed' });
    await daemon.call('contract.verify', {});
    expect(await daemon.call('worktrees.seal', { id: generationId })).toMatchObject({ lifecycle: 'sealed' });
  });

  it('is kept when that was said, until it is stopped by name; a drain of everything takes it along', async () => {
    const daemon = await testDaemon().start();
    const kept = await left(daemon, declared('keep'));
    const other = await left(daemon, declared('keep'));
    for (const { scopeId, generationId } of [kept, other]) {
      await alone(daemon, scopeId);
      await daemon.call('worktrees.close', { id: generationId });
    }
    // One that is not kept shows that a look was taken after the worktrees were closed.
    const witness = await left(daemon);
    await alone(daemon, witness.scopeId);
    await daemon.call('worktrees.close', { id: witness.generationId });
    await daemon.proved(witness.runId);
    expect([kept.pid, other.pid].map(isAlive)).toEqual([true, true]);
    expect(await daemon.call('runs.stop', { id: kept.runId })).toMatchObject({ outcome: 'proved' });
    expect(await daemon.call('drain', {})).toMatchObject({ settled: [other.scopeId], blocked: [] });
  });

  it('holds no terminal: what was said there is closed, incomplete by name, and the resident lives on', async () => {
    const daemon = await testDaemon().start();
    const { turn, script } = leaving(daemon, 'terminal');
    const { goalId } = await daemon.goal();
    const terminal = { cols: 80, rows: 24 };
    const { sessionId, scopeId, runId } = await daemon.exec(goalId, `echo said; ${script}`, {
      ...declared(),
      terminal,
    });
    const pid = await turn.ready();
    await daemon.ended(runId);
    await alone(daemon, scopeId!);
    const session = await eventually('a closed terminal', async () => {
      const now = await daemon.call('sessions.show', { id: sessionId! });
      return now.capture === 'incomplete' ? now : undefined;
    });
    expect(session).toMatchObject({ scope: 'unsettled', result: { code: 0 } });
    const [run] = (await daemon.call('runs.list', { goalId })).runs;
    expect((await daemon.call('runs.show', { id: run!.runId })).capture).toMatchObject([
      { stream: 'terminal', complete: false, reason: 'left_to_residents' },
    ]);
    expect(isAlive(pid)).toBe(true);
    await turn.release();
    expect(await daemon.proved(runId)).toMatchObject({ scope: { proof: 'own_receipt' } });
  });

  it('holds no output up: whoever follows it goes on, long before the bound for others', async () => {
    const bounds = { CUSTODY_FINAL_DRAIN_MS: '60000', CUSTODY_CAPTURE_JOIN_MS: '60000' };
    const daemon = await testDaemon({ env: bounds }).start();
    const startedMs = performance.now();
    const { runId, pid } = await left(daemon);
    const lines: object[] = [];
    for await (const line of daemon.client.stream<object>('runs.logs', { id: runId, follow: true })) lines.push(line);
    expect(performance.now() - startedMs).toBeLessThan(30_000);
    expect(lines.at(-1)).toMatchObject({ end: [{ complete: false }, { complete: false }] });
    expect(isAlive(pid)).toBe(true);
  });

  it('is refused together with a policy that would end it', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const asked = daemon.launchArguments(goalId, 'true', { ...declared(), onRootExit: 'terminate' });
    expect(await daemon.refusal('runs.exec', asked)).toMatchObject({ code: 'usage', exitCode: 2 });
  });
});
