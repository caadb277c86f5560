/** Disks and directories that a launcher cannot do anything about: it goes on, and what is lost shows as far as it can. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { smallDisk } from '../guardian/support/smallDisk.ts';
import { clientBuiltWith, editCounter, type Launcher, launcher, readEverything } from './support/client.ts';

const isRoot = process.getuid!() === 0;

function say(own: Launcher, run: string): string {
  const { code, stderr } = own.note(['exit', run, '--code', '0']);
  expect(code).toBe(0);
  return stderr;
}

/** Fills a file system to the last page; returns how to make room again. */
function fill(directory: string): () => void {
  const path = join(directory, 'ballast');
  try {
    for (;;) writeFileSync(path, Buffer.alloc(4096), { flag: 'a' });
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'ENOSPC' });
  }
  return () => rmSync(path);
}

it('a full disk costs the notes of that time and nothing else: their numbers are missing (INT-05, FAULT-08)', async () => {
  const disk = await smallDisk('size=256k');
  const own = launcher(join(disk, 'state'));
  expect(say(own, 'before')).toBe('');
  const makeRoom = fill(disk);
  for (const run of ['first', 'second', 'third'])
    expect(say(own, run)).toBe(
      'custody-note: this note is lost: the note cannot be written: No space left on device\n',
    );
  expect(own.taken()).toMatchObject({ notes: [{ run: 'before' }], lost: [], unsettled: 3 });
  makeRoom();
  expect(say(own, 'after')).toBe('');
  expect(own.taken()).toMatchObject({
    notes: [{ seq: 1 }, { seq: 5, run: 'after' }],
    lost: [{ from: 2, to: 4, why: 'missing' }],
    unsettled: 0,
  });
});

it('a disk that is full from the beginning takes no note and no trace, and the launcher hears of it', async () => {
  const disk = await smallDisk('size=64k');
  const own = launcher(join(disk, 'state'));
  fill(disk);
  expect(say(own, 'r')).toMatch(
    /this note is lost: the (counter|state directory|spool directory) cannot be made or opened: No space left/,
  );
});

/** A tmpfs that turns read-only when it is told to. */
async function turningReadOnly(): Promise<{ readonly path: string; turn(): Promise<void> }> {
  const script =
    'mount -t tmpfs -o mode=0755,size=1m small /mnt && echo on && read line && mount -o remount,ro /mnt && echo off && read line';
  const holder = spawn('unshare', [isRoot ? '-m' : '-Urm', 'sh', '-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void holder.stdin!.end());
  const lines = createInterface({ input: holder.stdout! });
  await once(lines, 'line');
  return {
    path: `/proc/${holder.pid}/root/mnt`,
    async turn() {
      holder.stdin!.write('\n');
      await once(lines, 'line');
    },
  };
}

it('a file system that is read-only takes neither note nor trace, and the launcher hears of both', async () => {
  const { path, turn } = await turningReadOnly();
  const own = launcher(join(path, 'state'));
  const other = launcher(join(path, 'elsewhere'));
  expect(say(own, 'before')).toBe('');
  await turn();
  expect(say(own, 'r')).toBe(
    'custody-note: this note is lost: the counter cannot be made or opened: Read-only file system; no trace of that could be left\n',
  );
  expect(say(other, 'r')).toMatch(/the state directory cannot be made or opened/);
  expect(own.taken()).toMatchObject({ notes: [{ run: 'before' }], lost: [], unsettled: 0 });
});

it.each([
  ['the state directory', (own: Launcher) => own.stateDir],
  ['the spool', (own: Launcher) => join(own.stateDir, 'spool')],
  ['the producer’s directory', (own: Launcher) => own.spool],
])('%s of somebody else is not written to', (_, pick) => {
  const own = launcher();
  mkdirSync(own.spool, { recursive: true, mode: 0o700 });
  if (!isRoot) {
    expect(own.note(['exit', 'r', '--code', '0', '--state-dir=/']).stderr).toMatch(/belongs to another user/);
    return;
  }
  chownSync(pick(own), 65_534, 65_534);
  expect(say(own, 'r')).toMatch(/this note is lost: the state directory, or a spool in it, belongs to another user/);
  expect(readdirSync(own.spool)).toEqual([]);
  own.note(['exit', 'r', '--code', '0'], { program: clientBuiltWith('WITHOUT_OWNER_CHECK') });
  expect(readdirSync(own.spool)).toHaveLength(2);
});

it.each([
  ['the state directory that others may write to', 0o770, (own: Launcher) => own.stateDir],
  ['a spool that others may look into', 0o750, (own: Launcher) => join(own.stateDir, 'spool')],
  ['a producer’s directory that others may look into', 0o701, (own: Launcher) => own.spool],
])('%s is not used', (_, mode, pick) => {
  const own = launcher();
  mkdirSync(own.spool, { recursive: true, mode: 0o700 });
  chmodSync(pick(own), mode);
  expect(say(own, 'r')).toMatch(/is open to others: chmod 700/);
  expect(readdirSync(own.spool)).toEqual([]);
});

it('no link inside of the spool is followed', () => {
  const own = launcher();
  const elsewhere = join(own.dir, 'elsewhere');
  mkdirSync(elsewhere, { mode: 0o700 });
  mkdirSync(join(own.stateDir, 'spool'), { recursive: true, mode: 0o700 });
  chmodSync(own.stateDir, 0o700);
  symlinkSync(elsewhere, own.spool);
  expect(say(own, 'r')).toMatch(/the spool directory cannot be made or opened/);
  expect(readdirSync(elsewhere)).toEqual([]);
  own.note(['exit', 'r', '--code', '0'], { program: clientBuiltWith('WITHOUT_NOFOLLOW') });
  expect(readdirSync(elsewhere)).toHaveLength(2);
});

it.each([
  ['a link', (path: string, target: string) => symlinkSync(target, path)],
  ['a directory', (path: string) => mkdirSync(path)],
])('a counter that is %s is not used, and what it leads to stays as it is', (_, make) => {
  const own = launcher();
  const target = join(own.dir, 'precious');
  writeFileSync(target, 'precious');
  mkdirSync(own.spool, { recursive: true, mode: 0o700 });
  make(join(own.spool, 'counter'), target);
  expect(say(own, 'r')).toMatch(/the counter cannot be made or opened.*; no trace of that could be left/);
  expect(readFileSync(target, 'utf8')).toBe('precious');
});

it('a counter that is a pipe keeps nobody waiting', async () => {
  const own = launcher();
  mkdirSync(own.spool, { recursive: true, mode: 0o700 });
  const made = spawn('mkfifo', [join(own.spool, 'counter')]);
  await once(made, 'exit');
  expect(say(own, 'r')).toMatch(/the counter cannot be made or opened/);
});

it.each([
  ['empty', (path: string) => truncateSync(path, 0)],
  ['cut off', (path: string) => truncateSync(path, 100)],
  ['of zeros', (path: string) => writeFileSync(path, Buffer.alloc(4096))],
  ['of another text', (path: string) => writeFileSync(path, 'x'.repeat(200))],
  ['past all numbers', (_: string, own: Launcher) => editCounter(own, /(?<= )0{19}2(?= )/, `0000${2 ** 53 - 1}`)],
  [
    'that claims more traces than there are',
    (_: string, own: Launcher) => editCounter(own, /(?<= )0{20}(?= )/, '00000000000000000009'),
  ],
])('a counter that is damaged (%s) begins another stream, shows it, and no number means two notes', (_, damage) => {
  const own = launcher();
  say(own, 'before');
  damage(join(own.spool, 'counter'), own);
  expect(own.taken().notes).toMatchObject([{ run: 'before' }]);
  expect([say(own, 'one'), say(own, 'two')]).toEqual(['', '']);
  const { notes, lost, unsettled } = own.taken();
  // What it had lost behind its last note is not known any more, so the other stream begins with a loss.
  expect({ lost, unsettled }).toEqual({ lost: [{ from: 1, to: 1, why: 'missing' }], unsettled: 0 });
  expect(notes.map(({ run, seq }) => [run, seq])).toEqual([
    ['before', 1],
    ['one', 2],
    ['two', 3],
  ]);
});

it('a counter that was put back never overwrites a note: the newer one is lost, and shows', () => {
  const own = launcher();
  say(own, 'one');
  const counter = join(own.spool, 'counter');
  const early = readFileSync(counter);
  say(own, 'two');
  writeFileSync(counter, early);
  expect(say(own, 'three')).toMatch(/the note cannot be written: File exists/);
  expect(say(own, 'four')).toBe('');
  expect(own.taken()).toMatchObject({
    notes: [{ run: 'one' }, { run: 'two' }, { run: 'four' }],
    lost: [{ from: 3, to: 3 }],
  });
});

it.each([
  ['a directory', (path: string) => mkdirSync(path), true],
  ['a link', (path: string) => symlinkSync('/dev/null', path), false],
  ['a second name of a file', (path: string) => linkAside(path), false],
])('in the place of the draft, %s', (_, make, isLost) => {
  const own = launcher();
  say(own, 'before');
  make(join(own.spool, '.note'));
  expect(say(own, 'r') === '').toBe(!isLost);
  expect(own.notes()).toHaveLength(isLost ? 1 : 2);
});

function linkAside(path: string): void {
  writeFileSync(`${path}.aside`, '');
  linkSync(`${path}.aside`, path);
}

it('a spool that was removed is made anew', () => {
  const own = launcher();
  say(own, 'before');
  rmSync(join(own.stateDir, 'spool'), { recursive: true });
  expect(say(own, 'after')).toBe('');
  expect(lstatSync(own.spool).isDirectory()).toBe(true);
  expect(readEverything(own.stateDir, 'shell').notes).toMatchObject([{ run: 'after', seq: 1 }]);
});
