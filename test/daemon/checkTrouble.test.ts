import { lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, refuseAt } from '../support/daemonFailpoints.ts';
import { eventually } from '../support/eventually.ts';
import { checkHeldBy, letGo, runningCheck, runsOf } from './support/heldChecks.ts';
import { ticked, workerOf, workingDaemon } from './support/workers.ts';

/** By a file: what an environment can carry is shorter. */
function withCheck(argv: readonly string[], env: Readonly<Record<string, string>> = {}): TestDaemon {
  const daemon = workingDaemon({ env });
  const { dir, env: all } = daemon.home;
  Reflect.deleteProperty(all, 'CUSTODY_CHECKS');
  const directory = join(dir, '.config', 'custody');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'config.jsonc'), JSON.stringify({ checks: { '*': argv } }));
  return daemon;
}

/** The worker has asked for something to do since this was called. */
function asked(daemon: TestDaemon): Promise<true> {
  const since = Date.now();
  return eventually('a tick', async () => {
    const { tickAgeMs } = await workerOf(daemon);
    return tickAgeMs !== null && Date.now() - tickAgeMs > since ? true : undefined;
  });
}

describe('CLAIM-04 what came of a check, where the store does not take it', () => {
  it('is recorded later, and keeps the worker from nothing', async () => {
    const daemon = await checkHeldBy().start(failingDaemonCommand());
    const { goalId } = await daemon.goal();
    const { runId } = await runningCheck(daemon);
    const refused = await refuseAt(daemon, { at: 'after_journal_insert', of: 'stop.settled', next: 'before_commit' });
    await daemon.call('runs.stop', { id: runId! });
    await refused.reached();
    letGo(daemon);
    await daemon.event({ actor: goalId, type: 'stop.settled' });
    const other = await daemon.goal();
    await daemon.event({ actor: other.goalId, type: 'receipt.recorded' });
    expect(runsOf(daemon)).toBe(2);
  });
});

describe('a check', () => {
  it('may have a command of any length that a guardian takes', async () => {
    const words = Array<string>(20).fill('x'.repeat(10_000));
    const daemon = await withCheck(['sh', '-c', 'test $# = 20', 'check', ...words]).start();
    const { goalId } = await daemon.goal();
    const receipt = await daemon.event({ actor: goalId, type: 'receipt.recorded' });
    expect(receipt.payload.verdict).toBe('accepted');
  });

  it('that never gets to run is tried less and less often, and health says why', async () => {
    const firstMs = 100;
    const daemon = await workingDaemon({ env: { CUSTODY_RETRY_BACKOFF_MS: String(firstMs) } }).start();
    await ticked(daemon);
    // Where the guardian of a check has to enrol: without it each launch ends behind its closed gate.
    const around = daemon.scopeDir((await workerOf(daemon)).scopeId);
    for (const name of readdirSync(around)) if (lstatSync(join(around, name)).isSocket()) rmSync(join(around, name));
    const { goalId } = await daemon.goal();
    const times: number[] = [];
    await daemon.event({ type: 'run.reserved' }, ({ wallMs }) => times.push(wallMs) === 5);
    const pauses = times.slice(1).map((time, at) => time - times[at]!);
    for (const [at, pause] of pauses.entries()) expect(pause).toBeGreaterThanOrEqual(firstMs * 2 ** at - 1);
    const reason = await eventually('the reason', async () => {
      const { health } = await daemon.call('status', {});
      return health.reasons.find(({ code }) => code === 'check_held_back');
    });
    expect(reason).toMatchObject({ next: [`custody goals show ${goalId}`, 'custody events'] });
    expect(reason.detail).toMatch(`the check of Goal ${goalId} could not be begun: never_ran`);
  });

  it('GOAL-04 begins as soon as a slot is free, however long it has waited for one', async () => {
    const longMs = '600000';
    const daemon = await workingDaemon({ env: { CUSTODY_CAPACITY: '1', CUSTODY_RETRY_BACKOFF_MS: longMs } }).start();
    await ticked(daemon);
    const busy = await daemon.call('goals.add', { title: 'a', repo: daemon.home.repo, request: 'x\n' });
    await daemon.call('worktrees.add', { goalId: busy.goalId });
    const { runId } = await daemon.exec(busy.goalId, 'sleep 1000');
    const { goalId } = await daemon.goal();
    await asked(daemon);
    await daemon.call('runs.stop', { id: runId });
    await daemon.event({ actor: goalId, type: 'receipt.recorded' });
  });
});
