import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TestDaemon, testDaemon } from '../support/daemon.ts';
import { daemonHome } from '../support/daemonHome.ts';

const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, env: { PATH: process.env.PATH } });

/** A worktree below the repository itself: without its own git directory, git finds the repository further up. */
async function nestedWorktree(daemon: TestDaemon) {
  const { goalId } = await daemon.call('goals.add', {
    title: 'a goal',
    repo: daemon.home.repo,
    request: 'do something\n',
    queue: true,
  });
  const path = join(daemon.home.repo, 'nested');
  const { generationId } = await daemon.call('worktrees.add', { goalId, path });
  return { goalId, generationId, path, ran: join(daemon.home.dir, 'ran') };
}

describe('D5 the ground disappears (WT-01)', () => {
  it.each([
    [
      'removed with git',
      'missing',
      (path: string, repo: string) => void git(repo, 'worktree', 'remove', '--force', path),
    ],
    ['removed by hand', 'missing', (path: string) => rmSync(path, { recursive: true })],
    [
      'an empty directory by now',
      'replaced',
      (path: string) => {
        rmSync(path, { recursive: true });
        mkdirSync(path);
      },
    ],
    ['without its git directory', 'replaced', (path: string) => rmSync(join(path, '.git'))],
  ])('(a) %s: generation missing, and nothing runs in the repository above', async (_, found, remove) => {
    const daemon = await testDaemon().start();
    const { goalId, generationId, path, ran } = await nestedWorktree(daemon);
    remove(path, daemon.home.repo);
    const refusal = await daemon.refusal('runs.exec', daemon.launchArguments(goalId, `git rev-parse > "${ran}"`));
    expect(refusal).toMatchObject({ code: 'generation_missing', exitCode: 13, details: { generationId, found } });
    expect((await daemon.call('runs.list', {})).runs).toEqual([]);
    expect(existsSync(ran)).toBe(false);
  });

  it('(c) created anew at the same path: another generation, which the old one does not reach', async () => {
    const daemon = await testDaemon().start();
    const old = await nestedWorktree(daemon);
    git(daemon.home.repo, 'worktree', 'remove', '--force', old.path);
    const { generationId } = await daemon.call('worktrees.add', { goalId: old.goalId, path: old.path });
    expect(generationId).not.toBe(old.generationId);
    const late = daemon.launchArguments(old.goalId, 'true', { generationId: old.generationId });
    expect(await daemon.refusal('runs.exec', late)).toMatchObject({
      code: 'generation_missing',
      details: { found: 'replaced' },
    });
    const { runId } = await daemon.exec(old.goalId, `pwd > "${old.ran}"`, { generationId });
    await daemon.proved(runId);
    expect(readFileSync(old.ran, 'utf8')).toBe(`${old.path}\n`);
  });
});

describe('the working directory', () => {
  it('lies inside the worktree, whatever it is called', async () => {
    const daemon = await testDaemon().start();
    const { goalId, path } = await daemon.goal();
    mkdirSync(join(path, 'sub'));
    symlinkSync(daemon.home.repo, join(path, 'out'));
    symlinkSync('sub', join(path, 'in'));
    const ran = join(daemon.home.dir, 'ran');
    for (const cwd of ['..', 'sub/../..', 'out', '/', `${path}-else`, 'missing']) {
      const refusal = await daemon.refusal('runs.exec', daemon.launchArguments(goalId, `touch "${ran}"`, { cwd }));
      expect([cwd, refusal.exitCode]).toEqual([cwd, expect.toBeOneOf([2, 13])]);
    }
    expect(existsSync(ran)).toBe(false);
    const { runId } = await daemon.exec(goalId, `pwd > "${ran}"`, { cwd: 'in' });
    await daemon.proved(runId);
    expect(readFileSync(ran, 'utf8')).toBe(`${join(path, 'sub')}\n`);
  });
});

describe('two installations', () => {
  it('never control one repository: the second is told who does, and changes nothing', async () => {
    const first = await testDaemon().start();
    await first.goal();
    const other = new TestDaemon({ ...daemonHome(), repo: first.home.repo });
    onTestFinished(() => other.dispose());
    await other.start();
    const record = readFileSync(join(first.home.repo, '.git', 'custody.json'), 'utf8');
    const added = { title: 'mine', repo: first.home.repo, request: 'x', queue: true };
    for (const refusal of [
      await other.refusal('goals.add', added),
      await other.refusal('repos.add', { path: first.home.repo }),
    ]) {
      expect(refusal).toMatchObject({ code: 'not_controller', exitCode: 4 });
      expect(refusal.message).toContain(JSON.parse(record).installationId);
    }
    expect((await other.call('goals.list', {})).goals).toEqual([]);
    expect(readFileSync(join(first.home.repo, '.git', 'custody.json'), 'utf8')).toBe(record);
  });
});
