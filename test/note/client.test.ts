import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { client, launcher, patient } from './support/client.ts';

const version = /"build":"[0-9a-f]{64}"/;

it('says each of the four things in the format of a note, with numbers from 1 (INT-04, RUN-07)', () => {
  const own = launcher();
  const said = [
    ['reserve', 'build/7', '--label', 'a "nightly" \\ é 😀\tone', '--retry-of=build/6', '--worktree', own.dir],
    ['bind', 'build/7', '--pid', String(process.pid)],
    ['worktree', 'build/7', own.dir],
    ['exit', 'build/7', '--code=3'],
    ['exit', 'build/7', '--signal', 'SIGKILL'],
    ['exit', 'build/7', '--signal=15'],
  ].map((words) => own.note(words));
  expect(said).toEqual(said.map(() => ({ code: 0, stderr: '' })));
  const notes = own.notes();
  expect(notes.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(new Set(notes.map(({ stream }) => stream)).size).toBe(1);
  expect(notes).toMatchObject([
    { type: 'run.reserve', run: 'build/7', label: 'a "nightly" \\ é 😀\tone', retryOf: 'build/6', producer: 'shell' },
    { type: 'run.bind', process: { pid: process.pid }, place: null },
    { type: 'run.place', place: { path: own.dir } },
    { type: 'run.exit', code: 3, signal: null },
    { type: 'run.exit', code: null, signal: 9 },
    { type: 'run.exit', code: null, signal: 15 },
  ]);
});

it('stamps wall clock, monotonic clock and boot of the call', () => {
  const own = launcher();
  const before = { wallMs: Date.now(), monoMs: Math.floor(Number(process.hrtime.bigint()) / 1e6) };
  own.note(['exit', 'r', '--code', '0']);
  const { at } = own.notes()[0]!;
  const after = { wallMs: Date.now(), monoMs: Math.ceil(Number(process.hrtime.bigint()) / 1e6) };
  expect(at.bootId).toBe(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  for (const clock of ['wallMs', 'monoMs'] as const) {
    expect(at[clock]).toBeGreaterThanOrEqual(before[clock]);
    expect(at[clock]).toBeLessThanOrEqual(after[clock]);
  }
});

it('makes everything private, whatever the umask, and leaves nothing but notes and the counter', () => {
  const own = launcher();
  execFileSync(
    'sh',
    ['-c', `umask 0; '${client()}' exit r --code 0 ${patient}; umask 777; '${client()}' exit r --code 0 ${patient}`],
    {
      env: own.env,
    },
  );
  const names = readdirSync(own.spool).sort();
  expect(names).toHaveLength(3);
  expect(names.map((name) => statSync(join(own.spool, name)).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
  for (const directory of [own.stateDir, join(own.stateDir, 'spool'), own.spool])
    expect(statSync(directory).mode & 0o777).toBe(0o700);
});

describe.each([
  ['bash', 'set -euo pipefail'],
  ['dash', 'set -eu'],
  ['zsh', 'setopt err_exit'],
  ['fish', ''],
])('called from %s', (shell, preamble) => {
  const pid = shell === 'fish' ? '$fish_pid' : '$$';

  it('binds the calling shell, and goes on', () => {
    const own = launcher();
    const script = `${preamble}\n'${client()}' bind r ${patient}\necho ${pid}\n`;
    const stdout = execFileSync(shell, ['-c', script], { env: own.env, encoding: 'utf8' });
    expect(own.notes()).toMatchObject([{ type: 'run.bind', process: { pid: Number(stdout) } }]);
  });

  it('does not end a script that stops at the first error when the note is lost (INT-05)', () => {
    const own = launcher();
    const script = `${preamble}\n'${client()}' bind r --pid 2147483647 ${patient}\n'${client()}' worktree r /nowhere/at/all ${patient}\necho went on\n`;
    const { stdout, stderr, status } = spawnSync(shell, ['-c', script], { env: own.env, encoding: 'utf8' });
    expect({ stdout, status }).toEqual({ stdout: 'went on\n', status: 0 });
    expect(stderr.split('\n').filter((line) => line.startsWith('custody-note: this note is lost: '))).toHaveLength(2);
    expect(own.taken()).toMatchObject({ notes: [], unsettled: 2 });
  });
});

it('returns although its output leads nowhere, and writes no message into a file of its own', () => {
  const own = launcher();
  const script = `set -e; '${client()}' exit r --code 0 ${patient} <&- >&- 2>&-; '${client()}' worktree r /nowhere ${patient} <&- >&- 2>&-; echo on`;
  expect(execFileSync('sh', ['-c', script], { env: own.env, encoding: 'utf8' })).toBe('on\n');
  const counter = readFileSync(join(own.spool, 'counter'), 'latin1');
  expect(counter).toMatch(/^custody-notes 2 [0-9a-f]{32}( \d{20}){5}-[0-9a-f]{32} [0-9a-f-]{36} [0-9a-f]{64}\n\.$/);
  expect(own.notes()).toHaveLength(1);
  // A reader of the messages that is gone is no reason to be ended by SIGPIPE.
  const piped = `set -eo pipefail; { sleep 0; '${client()}' worktree r /nowhere ${patient}; } 2>&1 | true; echo on`;
  expect(execFileSync('bash', ['-c', piped], { env: own.env, encoding: 'utf8' })).toBe('on\n');
});

it.each([
  [[], /a command is missing/],
  [['begin', 'r'], /unknown command `begin`/],
  [['bind'], /RUN is missing/],
  [['bind', 'a b'], /not usable as a RUN/],
  [['bind', '../r'], /not usable as a RUN/],
  [['bind', 'r', 'more'], /one word too many/],
  [['bind', 'r', '--pid', '0'], /not usable as a value/],
  [['bind', 'r', '--pid'], /a value is missing/],
  [['bind', 'r', '--label', 'x'], /does not take `--label`/],
  [['bind', 'r', '--nonsense'], /unknown option/],
  [['worktree', 'r'], /DIR is missing/],
  [['exit', 'r'], /one of --code, --signal/],
  [['exit', 'r', '--code', '1', '--signal', '2'], /one of --code, --signal/],
  [['exit', 'r', '--code', '256'], /not usable as a value/],
  [['exit', 'r', '--signal', 'SIGNONE'], /not usable as a value/],
  [['bind', 'r', '--producer', '../elsewhere'], /not usable as a value/],
  [['bind', 'r', '--producer', 'Upper'], /not usable as a value/],
])('refuses %j with exit 2 and writes nothing', (words, message) => {
  const own = launcher();
  const { status, stderr } = spawnSync(client(), words, { env: own.env, encoding: 'utf8' });
  expect(status).toBe(2);
  expect(stderr).toMatch(message);
  expect(readdirSync(own.dir)).toEqual([]);
});

it('shows no control character of a word that it refuses', () => {
  const { stderr } = spawnSync(client(), ['bind', 'r\u001b[31m'], { env: launcher().env, encoding: 'utf8' });
  expect(stderr).toBe('custody-note: not usable as a RUN: `r?[31m`; see --help\n');
});

it('tells how to call it, and which build it is', () => {
  expect(execFileSync(client(), ['--help'], { encoding: 'utf8' })).toMatch(/^usage: custody-note reserve RUN/);
  expect(execFileSync(client(), ['--version'], { encoding: 'utf8' })).toMatch(version);
});

it('with --strict a note that is lost is exit 1', () => {
  const own = launcher();
  expect(own.note(['worktree', 'r', '/nowhere', '--strict']).code).toBe(1);
  expect(own.note(['bind', 'r', '--worktree', '/nowhere', '--strict', '--pid', String(process.pid)]).code).toBe(1);
  expect(own.note(['exit', 'r', '--code', '0', '--strict']).code).toBe(0);
});

it('tells what can be told, and shows that a part is lost (FAULT-10)', () => {
  const own = launcher();
  const long = 'x'.repeat(201);
  const { stderr } = own.note(['reserve', 'r', '--label', long, '--worktree', '/nowhere']);
  expect(stderr).toMatch(/a part of this note is lost: the label .*; the directory cannot be opened/);
  own.note(['reserve', 'r', '--label', '😀'.repeat(100)]);
  expect(own.taken()).toMatchObject({
    notes: [
      { seq: 1, label: null, place: null },
      { seq: 3, label: '😀'.repeat(100) },
    ],
    lost: [{ from: 2, to: 2, why: 'missing' }],
    unsettled: 0,
  });
});

it.each([
  ['CUSTODY_HOME', (dir: string) => ({ CUSTODY_HOME: join(dir, 'state') })],
  ['XDG_STATE_HOME', (dir: string) => ({ CUSTODY_HOME: '', XDG_STATE_HOME: dir })],
  ['HOME', (dir: string) => ({ HOME: dir })],
])('finds the state directory by %s, as everything else does', (name, environment) => {
  const own = launcher();
  const where = { CUSTODY_HOME: 'state', XDG_STATE_HOME: 'custody', HOME: '.local/state/custody' }[name]!;
  const env = { PATH: own.env.PATH!, ...environment(own.dir) };
  spawnSync(client(), ['exit', 'r', '--code', '0', patient, '--producer', 'p'], { env });
  expect(readdirSync(join(own.dir, where, 'spool', 'p'))).toHaveLength(2);
});

it('takes producer and state directory from where they are said', () => {
  const own = launcher();
  own.note(['exit', 'r', '--code', '0', '--state-dir', 'elsewhere'], { env: { CUSTODY_PRODUCER: 'ci.nightly' } });
  mkdirSync(join(own.dir, 'other'), { mode: 0o700 });
  own.note(['exit', 'r', '--code', '0', `--state-dir=${join(own.dir, 'other')}`, '--producer=make']);
  expect(readdirSync(join(own.dir, 'elsewhere', 'spool'))).toEqual(['ci.nightly']);
  expect(readdirSync(join(own.dir, 'other', 'spool'))).toEqual(['make']);
});

it('stores nothing of the environment, the arguments of the run or its command line (PRIV-01)', () => {
  const own = launcher();
  const canary = 'canary-7f3a';
  const script = `'${client()}' bind r ${patient}; '${client()}' exit r --code 0 ${patient}; : ${canary}-text`;
  execFileSync('bash', ['-c', script, `${canary}-name`, `${canary}-argument`], {
    env: { ...own.env, SECRET: `${canary}-value` },
  });
  const stored = readdirSync(own.spool).map((name) => readFileSync(join(own.spool, name), 'utf8'));
  expect(stored).toHaveLength(3);
  expect(stored.join('')).not.toContain(canary);
});
