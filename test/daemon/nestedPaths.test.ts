import { existsSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assertBeside } from '../../actors/daemon/git/nesting.ts';
import { testDaemon } from '../support/daemon.ts';

describe('WT-01, WT-09: a worktree', () => {
  it('lies in no other worktree and in no git directory, whatever links lead there', async () => {
    const daemon = await testDaemon().start();
    const { dir, repo } = daemon.home;
    const { goalId, path, generationId } = await daemon.goal();
    const [linked, bare] = [join(dir, 'linked'), join(dir, 'bare')];
    symlinkSync(path, linked);
    symlinkSync(join(repo, '.git', 'refs'), bare);
    const inside = { code: 'path_nested', exitCode: 13, retryable: false, details: { generationId } };
    const inGit = { code: 'path_nested', exitCode: 13, details: { gitDirectory: join(repo, '.git') } };
    for (const [nested, refusal] of [
      [join(path, 'x'), inside],
      [join(linked, 'far', 'x'), inside],
      [join(repo, '.git', 'x'), inGit],
      [join(bare, 'x'), inGit],
    ] as const) {
      expect(await daemon.refusal('worktrees.add', { goalId, path: nested })).toMatchObject(refusal);
      expect(existsSync(nested)).toBe(false);
    }
    // Beside the others, and in the working tree of the repository, is where people keep them.
    for (const beside of [`${path}-2`, join(repo, 'trees', 'x')]) {
      expect(await daemon.call('worktrees.add', { goalId, path: beside })).toMatchObject({ path: beside });
    }
  });

  it('lies around no other worktree, also where the other one is missing just now', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const outer = join(daemon.home.dir, 'outer');
    const inner = join(outer, 'deep', 'inner');
    const { generationId } = await daemon.call('worktrees.add', { goalId, path: inner });
    renameSync(outer, `${outer}-away`);
    expect(await daemon.refusal('worktrees.add', { goalId, path: outer })).toMatchObject({
      code: 'path_nested',
      details: { generationId },
    });
    expect(existsSync(outer)).toBe(false);
  });

  it('is not made by two requests at the same time, one in the other', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const outer = join(daemon.home.dir, 'outer');
    const replies = await Promise.all(
      [outer, join(outer, 'inner')].map((path) => daemon.attempt('worktrees.add', { goalId, path })),
    );
    expect(replies.map((reply) => (reply.ok ? 'made' : reply.error.code)).sort()).toEqual(['made', 'path_nested']);
  });

  it('has no NUL in its path or its branch, and asking again does not help', async () => {
    const daemon = await testDaemon().start();
    const { goalId } = await daemon.goal();
    const path = join(daemon.home.dir, 'a\0b');
    for (const args of [{ path }, { path: join(path, 'c') }, { branch: 'a\0b' }, { base: 'a\0b' }]) {
      expect(await daemon.refusal('worktrees.add', { goalId, ...args })).toMatchObject({
        code: 'request_invalid',
        exitCode: 2,
        retryable: false,
      });
    }
    expect(await daemon.events({ type: 'scope.requested' })).toHaveLength(3);
  });
});

describe('paths beside each other', () => {
  it('may share a beginning of their names', () => {
    const neighbour = { generationId: 'W1', path: '/nowhere/tree' };
    expect(() => assertBeside('/nowhere/tree-2', [neighbour])).not.toThrow();
    expect(() => assertBeside('/nowhere/tree/2', [neighbour])).toThrow(/inside the worktree of W1/);
    expect(() => assertBeside('/nowhere', [neighbour])).toThrow(/around the worktree of W1/);
  });
});
