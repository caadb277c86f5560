/** Who has to do with a directory, from a procfs that is made of files (OBS-09). */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aliasesOf, parseMounts, whereaboutsOf } from '../../actors/observe/linux/mountAliases.ts';
import { type Occupants, type OccupantsRequest, occupantsBelow } from '../../actors/observe/linux/occupants.ts';
import { createProcReader } from '../../actors/observe/linux/proc.ts';

interface Made {
  readonly cwd?: string;
  readonly root?: string;
  readonly open?: readonly string[];
  readonly maps?: string;
  readonly namespace?: string;
  readonly mountinfo?: string;
  readonly name?: string;
  readonly ppid?: number;
  readonly uid?: number;
  /** What of it there is no looking at. */
  readonly without?: 'cwd' | 'fd' | 'maps' | 'ns';
  readonly state?: string;
  readonly threads?: number;
}

const mounts = '1 0 8:1 / / rw - ext4 d rw\n2 1 8:2 / /srv rw - ext4 e rw\n';
const directory = '/srv/trees/one';

function made(root: string, pid: number, one: Made): void {
  const at = join(root, String(pid));
  const { name = 'x', ppid = 1, uid = 5, state = 'S', threads = 1, namespace = 'mnt:[1]' } = one;
  mkdirSync(join(at, 'fd'), { recursive: true });
  mkdirSync(join(at, 'ns'));
  const behind = Array.from({ length: 40 }, (_, field) => (field === 16 ? threads : 7)).join(' ');
  writeFileSync(join(at, 'stat'), `${pid} (${name}) ${state} ${behind}\n`);
  const status = [`Name:\t${name}`, `State:\t${state} (x)`, `PPid:\t${ppid}`, `Uid:\t${uid}\t5\t5\t5`, 'VmSize:\t1 kB'];
  writeFileSync(join(at, 'status'), `${[...status, `Threads:\t${threads}`].join('\n')}\n`);
  writeFileSync(join(at, 'mountinfo'), one.mountinfo ?? mounts);
  if (one.without !== 'ns') symlinkSync(namespace, join(at, 'ns', 'mnt'));
  if (one.without !== 'cwd') symlinkSync(one.cwd ?? '/', join(at, 'cwd'));
  symlinkSync(one.root ?? '/', join(at, 'root'));
  if (one.without === 'fd') rmSync(join(at, 'fd'), { recursive: true });
  for (const [fd, path] of (one.open ?? []).entries()) symlinkSync(path, join(at, 'fd', String(fd)));
  if (one.without !== 'maps') writeFileSync(join(at, 'maps'), one.maps ?? '');
}

function look(processes: readonly Made[], request: Partial<OccupantsRequest> = {}): Occupants {
  const root = mkdtempSync(join(tmpdir(), 'custody-occupants-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'self'));
  writeFileSync(join(root, 'self', 'mountinfo'), mounts);
  for (const [at, one] of processes.entries()) made(root, at + 1, one);
  const bounds = { directory, most: 100, budgetMs: 1_000, sparing: [], monoMs: () => 0 };
  const steps = occupantsBelow(createProcReader(), root, { ...bounds, ...request });
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

const holdsOf = (one: Made, request?: Partial<OccupantsRequest>) =>
  look([one], request).occupants.flatMap(({ holds }) => holds);

const mapped = (path: string): string => `7f00-7f01 r-xp 00000000 08:01 42                         ${path}\n`;

describe('a process has to do with a directory', () => {
  it.each<readonly [string, Made, readonly string[]]>([
    ['that it stands in', { cwd: directory }, ['cwd']],
    ['below which it stands', { cwd: `${directory}/deep` }, ['cwd']],
    ['that it stood in when it was removed', { cwd: `${directory} (deleted)` }, ['cwd']],
    ['that is its root', { root: directory }, ['root']],
    ['of which it has a file open', { open: ['/dev/null', `${directory}/f`] }, ['open']],
    ['of which it has a removed file open', { open: [`${directory}/f (deleted)`] }, ['open']],
    ['of which it has a file mapped', { maps: mapped('/lib/c') + mapped(`${directory}/lib so`) }, ['mapped']],
    ['in every way', { cwd: directory, open: [directory], maps: mapped(`${directory}/x`) }, ['cwd', 'open', 'mapped']],
    [
      'beside which it stands',
      { cwd: `${directory}-2`, open: [`${directory}2/f`], maps: mapped(`${directory}-2/x`) },
      [],
    ],
    ['above which it stands', { cwd: '/srv/trees', open: ['/srv'] }, []],
  ])('%s', (_, one, holds) => expect(holdsOf(one)).toEqual(holds));

  it('whose path has letters and line feeds of its own', () => {
    const odd = '/srv/trées/a\nb';
    expect(holdsOf({ maps: mapped(Buffer.from('/srv/trées/a\\012b/x').toString('utf8')) }, { directory: odd })).toEqual(
      ['mapped'],
    );
  });

  it('that its own mount namespace shows at another place', () => {
    const elsewhere = '9 1 8:2 /trees/one /inside rw - ext4 e rw\n';
    const sandboxed = { cwd: '/inside/deep', namespace: 'mnt:[2]', mountinfo: elsewhere };
    expect(holdsOf(sandboxed)).toEqual(['cwd']);
    expect(holdsOf({ ...sandboxed, mountinfo: '9 1 8:3 /trees/one /inside rw - ext4 f rw\n' })).toEqual([]);
  });
});

describe('whoever could not be looked into is named', () => {
  it.each(['cwd', 'fd', 'maps', 'ns'] as const)('where its %s is not to be seen', (without) => {
    const { looked, unseen } = look([{ without }]);
    expect([looked, unseen.map(({ pid }) => pid)]).toEqual([0, [1]]);
  });

  it('unless it has ended meanwhile', () => {
    expect(look([{ without: 'cwd', state: 'Z' }])).toMatchObject({ looked: 1, unseen: [] });
    expect(look([{ without: 'cwd', state: 'Z', threads: 2 }]).unseen).toHaveLength(1);
  });

  it('and who comes after the bounds of the look as well', () => {
    const three = [{}, { cwd: directory }, {}];
    expect(look(three, { most: 1 })).toMatchObject({ looked: 1, unseen: [{ pid: 2 }, { pid: 3 }] });
    let now = 0;
    const slow = look(three, { budgetMs: 2, monoMs: () => now++ });
    expect([slow.looked, slow.unseen.length]).toEqual([1, 2]);
  });

  it('but not who is spared, with all that its program consists of', () => {
    const pair = [
      { name: 'custody-witness', ppid: 9, without: 'cwd' },
      { name: 'custody-guardia', ppid: 1, without: 'cwd' },
      { name: 'stranger', ppid: 2, without: 'cwd' },
    ] as const;
    expect(look(pair, { sparing: [1] }).unseen.map(({ pid }) => pid)).toEqual([3]);
  });
});

describe('a directory in its file system', () => {
  it('is found through the innermost mount, the last one on its path', () => {
    const text = `${mounts}3 2 8:3 /sub /srv/trees rw - ext4 f rw\n4 2 8:4 /last /srv/trees rw - ext4 g rw\n`;
    expect(whereaboutsOf(parseMounts(text), directory)).toEqual({ device: '8:4', path: '/last/one' });
    expect(whereaboutsOf([], directory)).toBeUndefined();
  });

  it('is seen wherever a mount shows it, what is above it, or what is below it', () => {
    const text = ['1 0 8:2 / /all', '2 0 8:2 /a /top', '3 0 8:2 /a/b/c /inner', '4 0 8:9 /a/b /other', '5 0 8:2 /x /y']
      .map((line) => `${line} rw - ext4 d rw`)
      .join('\n');
    expect(aliasesOf(parseMounts(text), { device: '8:2', path: '/a/b' })).toEqual(['/all/a/b', '/top/b', '/inner']);
  });
});
