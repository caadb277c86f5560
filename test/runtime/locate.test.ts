/** Repositories are found by reading files that a stranger may have made (ruling 25). */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commonDirectoryOf, gitDirectoryOf, locateRepository } from '../../actors/runtime/locate.ts';

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'custody-locate-')));

function gitDirectory(name: string): string {
  const path = join(directory, name, '.git');
  mkdirSync(join(path, 'objects'), { recursive: true });
  writeFileSync(join(path, 'HEAD'), 'ref: refs/heads/main\n');
  return path;
}

it('a worktree leads to the directory that all of its repository share', () => {
  const main = gitDirectory('main');
  const own = join(main, 'worktrees', 'w');
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, 'HEAD'), 'ref: refs/heads/w\n');
  writeFileSync(join(own, 'commondir'), '../..\n');
  const worktree = join(directory, 'w');
  mkdirSync(worktree);
  writeFileSync(join(worktree, '.git'), `gitdir: ${own}\n`);
  expect(gitDirectoryOf(worktree)).toBe(own);
  expect(locateRepository(worktree)).toEqual({ path: worktree, commonGitDir: main, bare: false });
});

it('a pipe where git keeps a path is not read, and what it would have said is not guessed', () => {
  const path = gitDirectory('piped');
  execFileSync('mkfifo', [join(path, 'commondir')]);
  expect(commonDirectoryOf(path)).toBe(path);
});

it('a pointer of any length is none', () => {
  const worktree = join(directory, 'long');
  mkdirSync(worktree);
  writeFileSync(join(worktree, '.git'), `gitdir: ${gitDirectory('target')}${'/.'.repeat(5_000)}\n`);
  expect(() => gitDirectoryOf(worktree)).toThrow('its .git pointer leads nowhere');
});
