import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type TestDaemon, testDaemon } from '../support/daemon.ts';
import { failingDaemonCommand, killAt } from '../support/daemonFailpoints.ts';

const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, env: { PATH: process.env.PATH } });

const worktrees = async (daemon: TestDaemon) => (await daemon.call('worktrees.list', { all: true })).worktrees;

describe('WT-01, WT-09: the directory of a new generation', () => {
  it('is never one that somebody else uses, whatever its branch is called', async () => {
    const daemon = await testDaemon().start();
    const first = await daemon.goal();
    const other = await daemon.goal();
    const byHand = join(daemon.home.dir, 'by-hand');
    git(daemon.home.repo, 'worktree', 'add', '-b', 'mine', byHand);
    const plain = join(daemon.home.dir, 'plain');
    mkdirSync(plain);
    for (const [path, branch] of [
      [first.path, undefined],
      [first.path, first.branch!],
      [byHand, undefined],
      [byHand, 'mine'],
      [plain, undefined],
      [daemon.home.repo, undefined],
    ] as const) {
      const refusal = await daemon.refusal('worktrees.add', {
        goalId: other.goalId,
        path,
        ...(branch ? { branch } : {}),
      });
      expect(refusal).toMatchObject({ code: 'preconditions_unmet', exitCode: 13 });
      expect(refusal.message).toContain('exists already');
    }
    expect((await worktrees(daemon)).map(({ path }) => path).sort()).toEqual([first.path, other.path].sort());
  });

  it('that cannot be made is refused by name', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const file = join(daemon.home.dir, 'file');
    writeFileSync(file, '');
    const refusal = await daemon.refusal('worktrees.add', { goalId, path: join(file, 'below') });
    expect(refusal).toMatchObject({ code: 'preconditions_unmet', exitCode: 13 });
    expect(refusal.message).toContain('cannot be made (EEXIST)');
    const further = await daemon.refusal('worktrees.add', { goalId, path: join(file, 'far', 'below') });
    expect(further).toMatchObject({ code: 'preconditions_unmet', exitCode: 13 });
    expect(further.message).toContain('cannot be made (ENOTDIR)');
    const itself = await daemon.refusal('worktrees.add', { goalId, path: file });
    expect(itself).toMatchObject({ code: 'preconditions_unmet', exitCode: 13 });
    expect(itself.message).toContain('exists already');
  });

  it('has nothing to start from in a repository without a commit, which says so', async () => {
    const daemon = await testDaemon().start();
    const repo = join(daemon.home.dir, 'unborn');
    mkdirSync(repo);
    git(repo, 'init', '-q');
    const { goalId } = await daemon.call('goals.add', { title: 'a goal', repo, request: 'do something', queue: true });
    const refusal = await daemon.refusal('worktrees.add', { goalId });
    expect(refusal).toMatchObject({
      code: 'preconditions_unmet',
      exitCode: 13,
      message: expect.stringContaining('the repository has no commit yet'),
      next: ['git commit --allow-empty -m first'],
    });
  });

  it('that a daemon left behind between git and the commit is taken over by the same request', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { goalId } = await daemon.goal();
    for (const path of [undefined, join(daemon.home.dir, 'named')]) {
      const request = { goalId, requestId: `again ${path}`, ...(path ? { path } : {}) };
      // The filter settings, the worktree, and then the head of what was made.
      await killAt(daemon, { at: 'before slots', nth: 3 });
      await expect(daemon.attempt('worktrees.add', request)).rejects.toMatchObject({ code: 'daemon_gone' });
      await daemon.process.exited;
      await daemon.start(failingDaemonCommand());
      const added = await daemon.call('worktrees.add', request);
      expect(added).toMatchObject({ lifecycle: 'open', ...(path ? { path } : {}) });
      expect(existsSync(join(added.path, '.git'))).toBe(true);
    }
  });

  it('is the first result of a repeated request, whatever has become of the Goal, and of no other request', async () => {
    const daemon = await testDaemon().start();
    const [one, two] = [await daemon.goal(), await daemon.goal()];
    const request = { goalId: one.goalId, requestId: 'mine' };
    const { generationId, path } = await daemon.call('worktrees.add', request);
    for (const other of [{ goalId: two.goalId }, { branch: 'else' }, { path: `${path}-else` }]) {
      const refusal = await daemon.refusal('worktrees.add', { ...request, ...other });
      expect(refusal).toMatchObject({ code: 'event_id_conflict', exitCode: 11 });
    }
    await daemon.call('goals.cancel', { id: one.goalId });
    expect(await daemon.call('worktrees.add', { ...request, path })).toMatchObject({ generationId });
  });

  it('is waited for while git of a former daemon makes it', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { goalId } = await daemon.goal();
    // Git waits for the lock of the branch that it is to make (git-config(1), core.filesRefLockTimeout).
    git(daemon.home.repo, 'config', 'core.filesRefLockTimeout', '60000');
    const lock = join(daemon.home.repo, '.git', 'refs', 'heads', 'slow.lock');
    writeFileSync(lock, '');
    const request = { goalId, branch: 'slow', requestId: 'slow' };
    await killAt(daemon, { at: 'before slots', nth: 2, next: 'gate byte' });
    await expect(daemon.attempt('worktrees.add', request)).rejects.toMatchObject({ code: 'daemon_gone' });
    await daemon.process.exited;
    await daemon.start(failingDaemonCommand());
    const adding = daemon.call('worktrees.add', request);
    expect((await daemon.call('processes', {})).scopes).toMatchObject([
      { purpose: 'git worktree', workload: 'running' },
    ]);
    rmSync(lock);
    expect(await adding).toMatchObject({ branch: 'slow', lifecycle: 'open' });
    const made = await daemon.events({ type: 'scope.requested' });
    const purposes = made.map(({ payload }) => payload.purpose).filter((purpose) => purpose === 'git worktree');
    expect(purposes).toHaveLength(2);
  });

  it('is not taken over while git is not done with it', async () => {
    const daemon = await testDaemon().start(failingDaemonCommand());
    const { goalId } = await daemon.goal();
    const request = { goalId, requestId: 'half made' };
    await killAt(daemon, { at: 'before slots', nth: 3 });
    await expect(daemon.attempt('worktrees.add', request)).rejects.toMatchObject({ code: 'daemon_gone' });
    await daemon.process.exited;
    await daemon.start(failingDaemonCommand());
    const known = (await worktrees(daemon)).map(({ generationId }) => generationId);
    const gitDirs = join(daemon.home.repo, '.git', 'worktrees');
    const halfMade = readdirSync(gitDirs).find((name) => !known.some((id) => id === name))!;
    // What git holds while it fills a new worktree (git-worktree(1), builtin/worktree.c).
    writeFileSync(join(gitDirs, halfMade, 'locked'), 'initializing');
    expect(await daemon.refusal('worktrees.add', request)).toMatchObject({
      code: 'worktree_incomplete',
      exitCode: 10,
      retryable: true,
    });
    expect(await worktrees(daemon)).toHaveLength(known.length);
  });
});
