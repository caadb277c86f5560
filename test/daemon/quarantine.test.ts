/** Putting a worktree aside: which directory, where to, and back again. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { putAside, unfinishedIn } from '../../actors/daemon/quarantine/aside.ts';
import { fileIdentityOf } from '../../actors/runtime/generations.ts';
import { workDirectory } from '../guardian/support/scope.ts';
import { makeRepository } from '../support/daemonHome.ts';

function worktree(path?: string) {
  const directory = workDirectory();
  const repo = makeRepository(join(directory, 'repository'));
  const place = path ?? join(directory, 'worktree');
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: repo, encoding: 'utf8' });
  git('worktree', 'add', '-q', '-b', 'work', place);
  writeFileSync(join(place, 'written'), 'work\n');
  return {
    quarantine: join(directory, 'quarantine'),
    placed: { generationId: 'W1', path: place, fsIdentity: fileIdentityOf(place) },
    git,
  };
}

it('is moved whole, locked for git, and comes back as if nothing had happened', async () => {
  const { quarantine, placed, git } = worktree();
  const before = git('worktree', 'list', '--porcelain');
  const aside = await putAside(quarantine, placed);
  expect(aside).toMatchObject({ to: join(quarantine, 'W1-1'), gitMetadata: 'repaired' });
  expect(existsSync(placed.path)).toBe(false);
  git('worktree', 'prune');
  expect(() => git('worktree', 'remove', '--force', aside.to!)).toThrow();
  expect(readFileSync(join(aside.to!, 'written'), 'utf8')).toBe('work\n');
  await aside.undo();
  expect(git('worktree', 'list', '--porcelain')).toBe(before);
  expect(readFileSync(join(placed.path, 'written'), 'utf8')).toBe('work\n');
  expect(readdirSync(quarantine)).toEqual([]);
});

it('keeps a lock that somebody else has set', async () => {
  const { quarantine, placed, git } = worktree();
  git('worktree', 'lock', '--reason', 'on a stick', placed.path);
  const aside = await putAside(quarantine, placed);
  expect(git('worktree', 'list', '--porcelain')).toContain('locked on a stick');
  await aside.undo();
  expect(git('worktree', 'list', '--porcelain')).toContain('locked on a stick');
});

it('from another file system goes beside its own place', async () => {
  const elsewhere = mkdtempSync('/dev/shm/custody-quarantine-');
  onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }));
  const { quarantine, placed, git } = worktree(join(elsewhere, 'worktree'));
  expect(statSync(elsewhere).dev).not.toBe(statSync(join(quarantine, '..')).dev);
  const aside = await putAside(quarantine, placed);
  expect(aside.to).toBe(join(elsewhere, '.custody-quarantine-W1-1'));
  expect(git('worktree', 'list')).toContain(aside.to);
  const [unfinished] = await unfinishedIn(quarantine);
  expect(unfinished!.move).toMatchObject({ from: placed.path, to: aside.to });
  await unfinished!.undo();
  expect(existsSync(join(placed.path, 'written'))).toBe(true);
});

it('another directory at its path is left alone', async () => {
  const { quarantine, placed } = worktree();
  rmSync(placed.path, { recursive: true });
  mkdirSync(placed.path);
  const other = { ...placed, fsIdentity: { ...placed.fsIdentity, ino: '1' } };
  expect(await putAside(quarantine, other)).toMatchObject({ to: null, gitMetadata: 'none' });
  expect(existsSync(placed.path)).toBe(true);
});

it('never takes a place that is taken', async () => {
  const { quarantine, placed } = worktree();
  mkdirSync(join(quarantine, 'W1-1'), { recursive: true });
  const aside = await putAside(quarantine, placed);
  expect(aside.to).toBe(join(quarantine, 'W1-2'));
  mkdirSync(placed.path);
  await expect(aside.undo()).rejects.toMatchObject({ code: 'EEXIST' });
  expect(existsSync(join(aside.to!, 'written'))).toBe(true);
  expect(await unfinishedIn(quarantine)).toHaveLength(1);
});

it('without git metadata is moved all the same', async () => {
  const { quarantine, placed } = worktree();
  const aside = await putAside(quarantine, { ...placed, fsIdentity: { ...placed.fsIdentity, gitdir: '' } });
  expect(aside.gitMetadata).toBe('none');
  expect(existsSync(join(aside.to!, 'written'))).toBe(true);
});
