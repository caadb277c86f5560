/**
 * FAULT-08: a store that takes nothing, in every way in which that happens, against everything that writes where no daemon
 * is. Each says what is wrong, none says that it succeeded, and when it is over the same again is done, once.
 */
import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { exit, reserve } from '../ingest/support/notes.ts';
import { cliProgram } from '../support/daemonProcess.ts';
import { eventually } from '../support/eventually.ts';
import { type MountedDisk, mountedDisk } from '../support/mountedDisk.ts';
import { launcher, Observing } from './support/observing.ts';

type Undo = () => unknown;

interface Setting {
  readonly observing: Observing;
  readonly disk: MountedDisk;
  /** A path of the state directory, from here. */
  readonly at: (...names: string[]) => string;
}

/** Another process holds a lock on a database; resolves once it has it. */
async function held({ observing, disk }: Setting, name: string, how: string): Promise<Undo> {
  const script = `const d = new (require(process.argv[1]))(process.argv[2]); d.exec(process.argv[3]); console.log('held');
    process.stdin.on('end', () => process.exit()).resume();`;
  const words = [
    '-e',
    script,
    createRequire(import.meta.url).resolve('better-sqlite3'),
    join(observing.stateDir, name),
    how,
  ];
  const [file, ...rest] = [...disk.prefix, process.execPath, ...words];
  const holder = spawn(file!, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void holder.stdin.end());
  await once(holder.stdout, 'data');
  return async () => {
    holder.stdin.end();
    await once(holder, 'exit');
  };
}

function damaged({ at }: Setting): Undo {
  const whole = readFileSync(at('custody.db'));
  writeFileSync(at('custody.db'), Buffer.from(whole).fill(0x55, 0, 64));
  return () => writeFileSync(at('custody.db'), whole);
}

/** As on a disk that is not mounted at present. */
function leadingNowhere({ at }: Setting): Undo {
  renameSync(at(), `${at()}.away`);
  symlinkSync('/no/such/disk', at());
  return () => {
    unlinkSync(at());
    renameSync(`${at()}.away`, at());
  };
}

function full({ disk }: Setting): Undo {
  disk.fill();
  return disk.free;
}

async function readOnly({ disk }: Setting): Promise<Undo> {
  // A daemon that could not begin may still be on its way out, with files open.
  await eventually('nobody writes there', () => {
    try {
      disk.remount('ro');
      return true;
    } catch {
      return undefined;
    }
  });
  return () => disk.remount('rw');
}

const conditions = [
  {
    what: 'held by another writer',
    begin: (to: Setting) => held(to, 'lock.db', 'BEGIN EXCLUSIVE'),
    code: /^runtime_busy$/,
    exit: 7,
  },
  {
    what: 'locked by another program',
    begin: (to: Setting) => held(to, 'custody.db', 'BEGIN IMMEDIATE'),
    code: /^store_busy$/,
    exit: 10,
  },
  { what: 'on a full disk', begin: full, code: /^store_(full|io)$/, exit: 10 },
  { what: 'on a read-only disk', begin: readOnly, code: /^store_readonly$/, exit: 9 },
  { what: 'on a disk that is not there', begin: leadingNowhere, code: /^store_missing$/, exit: 9 },
  { what: 'damaged', begin: damaged, code: /^store_corrupt$/, exit: 9 },
];

it('every command names every condition, and does its work once when it is over', async () => {
  const observing = new Observing();
  const disk = await mountedDisk(join(observing.dir, 'disk'), '8m');
  const stateDir = join(observing.dir, 'disk', 'state');
  Object.assign(observing, { prefix: disk.prefix, stateDir });
  const setting: Setting = { observing, disk, at: (...names) => disk.inside(join(stateDir, ...names)) };
  const custody = (...words: string[]): SpawnSyncReturns<string> => {
    const [file, ...rest] = [...disk.prefix, process.execPath, cliProgram, ...words, '--json'];
    return spawnSync(file!, rest, { env: observing.env, cwd: observing.dir, encoding: 'utf8' });
  };
  onTestFinished(() => {
    custody('daemon', 'stop');
    disk.end();
  });

  const note = launcher();
  await observing.ingest([note(reserve('before'))]);
  expect(custody('note', 'reserve', 'noted').status).toBe(0);
  const file = observing.file([note(exit('before')), note(reserve('told'))]);
  const writing = [
    ['observe', 'ingest', file],
    ['observe', 'ingest'],
    ['observe', 'reconcile', '--once'],
    ['worktrees', 'register', observing.repo],
  ];
  for (const { what, begin, code, exit: exitCode } of conditions) {
    const end = await begin(setting);
    for (const words of writing) {
      // A daemon that cannot begin says so in its own words where somebody else has the lock.
      const isManaged = words[0] === 'worktrees' && exitCode === 7;
      const { status, stdout } = custody(...words);
      const { ok, error } = JSON.parse(stdout);
      const expected = isManaged ? [false, 'daemon_unreachable', 10] : [false, expect.stringMatching(code), exitCode];
      expect([ok, error.code, status], `${words.join(' ')} with a store ${what}`).toEqual(expected);
      expect(error.next.length).toBeGreaterThan(0);
    }
    await end();
  }

  for (const _ of ['the first time', 'again'])
    for (const words of writing.slice(0, 3)) expect(custody(...words).status).toBe(0);
  const { runs, gaps, producers } = JSON.parse(custody('observe', 'status').stdout).data;
  expect([runs.unbound, gaps.recorded]).toEqual([3, 0]);
  expect(producers.map(({ taken }: { taken: number }) => taken).sort()).toEqual([1, 3]);
  expect(custody('worktrees', 'register', observing.repo).status).toBe(0);
});

it('a store that vanishes under a command takes nothing any more, and the command says so', async () => {
  const observing = new Observing();
  const note = launcher();
  await observing.observe(['status']);
  const child = observing.start('ingest', '-');
  const said = once(child.stdout!, 'data');
  const lines = (from: number) =>
    Array.from({ length: 100 }, (_, at) => `${JSON.stringify(note(reserve(`job-${from + at}`)))}\n`).join('');
  const [first, second] = [lines(0), lines(100)];
  // A whole batch is taken as soon as it is read; the log grows with it.
  child.stdin!.write(first);
  const log = join(observing.stateDir, 'custody.db-wal');
  await eventually('a commit', () =>
    existsSync(log) && readFileSync(log).includes('run.reserved') ? true : undefined,
  );
  renameSync(observing.stateDir, `${observing.stateDir}.away`);
  child.stdin!.end(second);
  const [text] = (await said) as [Buffer];
  expect(JSON.parse(text.toString())).toMatchObject({ ok: false, error: { code: 'store_io' } });
  renameSync(`${observing.stateDir}.away`, observing.stateDir);
  expect(await observing.observe(['ingest', '-'], first + second)).toMatchObject({
    code: 0,
    json: { data: { lost: 0 } },
  });
  expect((await observing.observe(['status'])).json.data.runs.unbound).toBe(200);
});

it('a store that is not there is made anew, and that is said with the answer', async () => {
  const observing = new Observing();
  for (const warned of [1, 0]) {
    const { code, json } = await observing.observe(['reconcile']);
    expect([code, json.warnings.length]).toEqual([0, warned]);
  }
});
