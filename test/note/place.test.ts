import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Place } from '../../machines/note.ts';
import { client, type Launcher, launcher, patient } from './support/client.ts';

function placed(own: Launcher, directory: string): Place | null {
  own.note(['reserve', 'r', '--worktree', directory]);
  const note = own.notes().at(-1)!;
  return note.type === 'run.reserve' ? note.place : null;
}

function repository(own: Launcher): { readonly main: string; readonly linked: string } {
  const main = join(own.dir, 'main');
  const linked = join(own.dir, 'linked tree');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.org', ...args]);
  git('init', '-q', main);
  git('-C', main, 'commit', '-q', '--allow-empty', '-m', 'first');
  git('-C', main, 'worktree', 'add', '-q', '-b', 'other', linked);
  return { main, linked };
}

it('names a directory by its one path, device, inode and birth, as Node reads them', () => {
  const own = launcher();
  const real = join(own.dir, 'real');
  mkdirSync(real);
  symlinkSync(real, join(own.dir, 'alias'));
  const { dev, ino, birthtimeNs } = statSync(real, { bigint: true });
  const expected = {
    path: realpathSync(real),
    dev: String(dev),
    ino: String(ino),
    born: String(birthtimeNs),
    gitdir: '',
  };
  expect(placed(own, 'alias/../alias')).toEqual(expected);
  expect(placed(own, real)).toEqual(expected);
});

it('tells a directory from a later one in its place', () => {
  const own = launcher();
  const path = join(own.dir, 'again');
  mkdirSync(path);
  const first = placed(own, path);
  rmSync(path, { recursive: true });
  mkdirSync(path);
  expect(placed(own, path)?.born).not.toBe(first?.born);
});

it('says where .git leads, of a main worktree and of a linked one', () => {
  const own = launcher();
  const { main, linked } = repository(own);
  const dir = realpathSync(own.dir);
  expect(placed(own, main)?.gitdir).toBe(join(dir, 'main/.git'));
  expect(placed(own, linked)?.gitdir).toBe(join(dir, 'main/.git/worktrees/linked-tree'));
  writeFileSync(join(linked, '.git'), 'gitdir: ../main/.git/worktrees/linked-tree\r\n');
  expect(placed(own, linked)?.gitdir).toBe(join(dir, 'main/.git/worktrees/linked-tree'));
});

it.each([
  ['a pointer to nowhere', (path: string) => writeFileSync(path, 'gitdir: /nowhere/at/all\n')],
  ['something else', (path: string) => writeFileSync(path, 'gitdirectory\n')],
  ['an empty file', (path: string) => writeFileSync(path, '')],
  ['a pointer with a NUL in it', (path: string) => writeFileSync(path, 'gitdir: .\0/etc\n')],
  ['a pipe that nobody writes to', (path: string) => execFileSync('mkfifo', [path])],
  ['a link to itself', (path: string) => symlinkSync('.git', path)],
  ['a huge file', (path: string) => writeFileSync(path, Buffer.alloc(2_000_000, 'x'))],
])('leads nowhere, without waiting, where .git is %s', (_, make) => {
  const own = launcher();
  const path = join(own.dir, 'tree');
  mkdirSync(path);
  make(join(path, '.git'));
  expect(placed(own, path)).toMatchObject({ path: realpathSync(path), gitdir: '' });
});

it('writes every path that JSON can hold, whatever is in it', () => {
  const own = launcher();
  const name = 'a"b\\c\n\t\u0001\u007f é ü 日本 😀 \u2028';
  mkdirSync(join(own.dir, name));
  expect(placed(own, join(own.dir, name))?.path).toBe(join(realpathSync(own.dir), name));
});

it.each([
  ['a byte that begins nothing', '\\377'],
  ['an overlong form', '\\300\\257'],
  ['half of a pair', '\\355\\240\\200'],
  ['a character that is cut off', '\\342\\202'],
  ['more than Unicode has', '\\364\\220\\200\\200'],
])('refuses a path with %s, says so, and shows the loss', (_, bytes) => {
  const own = launcher();
  const script = `d=$(printf 'x${bytes}y'); mkdir "$d"; '${client()}' worktree r "$d" ${patient} 2>&1`;
  expect(execFileSync('sh', ['-c', script], { env: own.env, cwd: own.dir, encoding: 'utf8' })).toMatch(
    /this note is lost: the path of the directory is not UTF-8/,
  );
  expect(own.taken()).toMatchObject({ notes: [], unsettled: 1 });
  const git = `mkdir w "$(printf 'g${bytes}')"; printf 'gitdir: ../g${bytes}\\n' >w/.git; '${client()}' worktree r w ${patient} 2>&1`;
  expect(execFileSync('sh', ['-c', git], { env: own.env, cwd: own.dir, encoding: 'utf8' })).toMatch(
    /git directory is not UTF-8/,
  );
});

it('refuses what does not fit into a note, what is no directory, and what was removed', () => {
  const own = launcher();
  let deep = own.dir;
  for (let level = 0; level < 15; level += 1) deep = join(deep, '\u0001'.repeat(250));
  mkdirSync(deep, { recursive: true });
  expect(own.note(['worktree', 'r', deep]).stderr).toMatch(/too long for a note/);
  writeFileSync(join(own.dir, 'file'), '');
  expect(own.note(['worktree', 'r', join(own.dir, 'file')]).stderr).toMatch(/cannot be opened: Not a directory/);
  execFileSync('mkfifo', [join(own.dir, 'pipe')]);
  expect(own.note(['worktree', 'r', join(own.dir, 'pipe')]).stderr).toMatch(/cannot be opened/);
  const script = `mkdir gone; cd gone; rmdir ../gone; '${client()}' worktree r . ${patient} 2>&1`;
  expect(execFileSync('sh', ['-c', script], { env: own.env, cwd: own.dir, encoding: 'utf8' })).toMatch(/was removed/);
  own.note(['exit', 'r', '--code', '0']);
  expect(own.taken()).toMatchObject({ notes: [{ seq: 5 }], lost: [{ from: 1, to: 4 }] });
});
