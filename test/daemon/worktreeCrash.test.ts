import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, killAt } from '../support/daemonFailpoints.ts';
import { patienceMs } from '../support/patience.ts';

/** Every commit in a soak, every third of them otherwise. */
const stride = process.env.CUSTODY_SOAK === '1' ? 1 : 3;

const git = (daemon: TestDaemon, ...args: string[]): string[] =>
  execFileSync('git', args, { cwd: daemon.home.repo, env: { PATH: process.env.PATH }, encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);

async function addGoal(daemon: TestDaemon): Promise<string> {
  const { goalId } = await daemon.call('goals.add', {
    title: 'a goal',
    repo: daemon.home.repo,
    request: 'x',
    queue: true,
  });
  return goalId;
}

/** True when the daemon was killed before it had answered. */
async function isKilledAt(
  daemon: TestDaemon,
  nth: number,
  added: { goalId: string; requestId: string },
): Promise<boolean> {
  await killAt(daemon, { at: 'after_commit', nth });
  const reply = await daemon.attempt('worktrees.add', added).catch((error: { code?: string }) => error.code);
  if (reply !== 'daemon_gone') {
    expect(reply).toMatchObject({ ok: true });
    // Until it is disarmed, a commit of something else may still be the one that it dies after.
    const isDisarmed = await killAt(daemon, { at: 'nowhere' }).then(
      () => true,
      () => false,
    );
    if (isDisarmed) return false;
  }
  expect((await daemon.process.exited).signal).toBe('SIGKILL');
  return true;
}

/** A whole checkout on a branch of its own, in which a job finds what it expects. */
async function expectWholeWorktree(daemon: TestDaemon, added: { goalId: string; requestId: string }): Promise<void> {
  const { generationId, path, branch } = await daemon.call('worktrees.add', added);
  const { runId } = await daemon.exec(added.goalId, 'test -f README.md && test -z "$(git status --porcelain)"', {
    generationId,
  });
  expect(await daemon.proved(runId)).toMatchObject({ result: { how: 'exited', code: 0 } });
  expect(git(daemon, 'worktree', 'list', '--porcelain')).toContain(`worktree ${path}`);
  expect(git(daemon, 'branch', '--list', '--format=%(refname:short)')).toContain(branch);
}

describe('FAULT-02, RUN-01: a worktree whose making is interrupted', () => {
  it(
    'is whole when the request is repeated, whichever commit the daemon died after; nothing half made is left',
    async ({ annotate }) => {
      const daemon = await testDaemon().start(failingDaemonCommand());
      let kills = 0;
      for (let nth = 1; ; nth += stride) {
        const added = { goalId: await addGoal(daemon), requestId: `worktree ${nth}` };
        const wasKilled = await isKilledAt(daemon, nth, added);
        if (wasKilled) await daemon.start(failingDaemonCommand());
        await expectWholeWorktree(daemon, added);
        if (!wasKilled) break;
        kills += 1;
      }
      const { worktrees } = await daemon.call('worktrees.list', {});
      expect(git(daemon, 'branch', '--list', 'custody/*')).toHaveLength(worktrees.length);
      expect(git(daemon, 'worktree', 'list')).toHaveLength(worktrees.length + 1);
      // The battery of containment checks runs beside everything else.
      await daemon.event({ actor: worktrees.at(-1)!.generationId, type: 'contract.verified' });
      const { checks } = await daemon.call('doctor', {});
      expect(checks.filter(({ ok, severity }) => !ok || severity === 'warning')).toEqual([]);
      await annotate(`${kills} kills of the daemon`);
      expect(kills).toBeGreaterThan(2);
    },
    30 * patienceMs,
  );
});
