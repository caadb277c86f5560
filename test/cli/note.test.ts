/** `custody note`, and the command `custody-note` as an installation links it: two ways to the same client. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { bootId, launcher, patient, readEverything } from '../note/support/client.ts';
import { emptyHome, type Home, json, program, run } from './support/program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

function home(): Home {
  const made = emptyHome();
  onTestFinished(() => made.remove());
  return made;
}

it('says the same as the client, starts no daemon, and binds whoever calls it', async () => {
  const own = home();
  const calls = [
    ['note', 'reserve', 'r', '--worktree', '.', '--label', 'nightly', '--retry-of', 'q', patient],
    ['note', 'bind', 'r', patient, '--json'],
    ['note', 'worktree', 'r', own.dir, patient],
    ['note', 'exit', 'r', '--signal', 'KILL', '--producer', 'shell', patient],
  ];
  for (const words of calls) expect(await run(words, own)).toMatchObject({ code: 0, stderr: '' });
  expect(readEverything(own.stateDir, 'shell').notes).toMatchObject([
    { type: 'run.reserve', label: 'nightly', retryOf: 'q', place: { path: own.dir } },
    { type: 'run.bind', process: { pid: process.pid }, at: { bootId: bootId() } },
    { type: 'run.place', place: { path: own.dir } },
    { type: 'run.exit', code: null, signal: 9 },
  ]);
  expect(readdirSync(own.stateDir)).toEqual(['spool']);
});

it('a lost note is a warning, and with --strict a failure', async () => {
  const own = home();
  const lost = ['note', 'worktree', 'r', 'nowhere', patient];
  const warned = await run([...lost, '--json'], own);
  expect(warned.code).toBe(0);
  expect(json(warned)).toMatchObject({
    ok: true,
    command: 'note.worktree',
    data: { told: false },
    warnings: [expect.stringMatching(/^this note is lost: the directory cannot be opened/)],
  });
  expect(await run([...lost, '--strict'], own)).toMatchObject({ code: 1, stderr: expect.stringMatching(/^warning: /) });
});

it('wrong usage is exit 2 in the shape of every error, and writes nothing', async () => {
  const own = home();
  for (const words of [
    ['exit', 'r'],
    ['bind', 'a b'],
    ['bind', 'r', '--pid', '0'],
    ['worktree', 'r'],
  ]) {
    const answer = await run(['note', ...words, '--json'], own);
    expect(answer.code).toBe(2);
    expect(json(answer).error).toMatchObject({ code: 'usage', retryable: false });
    expect(json(answer).error?.next.at(-1)).toBe(`custody note ${words[0]} --help`);
  }
  expect(existsSync(own.stateDir)).toBe(false);
});

it('tells where the client is', async () => {
  const { stdout } = await run(['note', 'path'], home());
  expect(execFileSync(stdout.trim(), ['--version'], { encoding: 'utf8' })).toMatch(/"name":"custody-note"/);
});

/** What npm makes of the package: its files somewhere, and a link to what `bin` names. */
function installed(): { readonly dir: string; readonly link: string } {
  const { dir } = launcher();
  const at = join(dir, 'lib', 'node_modules', 'custody');
  for (const path of ['dist', 'pty/note']) {
    mkdirSync(join(at, path), { recursive: true });
    cpSync(join(root, path), join(at, path), { recursive: true, filter: (from) => !from.includes('/build/test') });
  }
  symlinkSync(join(root, 'node_modules'), join(at, 'node_modules'));
  cpSync(join(root, 'package.json'), join(at, 'package.json'));
  mkdirSync(join(dir, 'bin'));
  const link = join(dir, 'bin', 'custody-note');
  symlinkSync(`../lib/node_modules/custody/${manifest.bin['custody-note']}`, link);
  return { dir: at, link };
}

it('is found through the link of an installation, also through a second one', () => {
  const own = launcher();
  const { link, dir } = installed();
  symlinkSync(link, join(own.dir, 'again'));
  for (const path of [link, join(own.dir, 'again')]) {
    const { status, stderr } = spawnSync(path, ['exit', 'r', '--code', '0', patient], {
      env: own.env,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  }
  expect(own.notes()).toHaveLength(2);
  // The calling shell is the run, although a script stands in between.
  const said = execFileSync('sh', ['-c', `'${link}' bind r ${patient}; echo $$`], { env: own.env, encoding: 'utf8' });
  expect(own.notes().at(-1)).toMatchObject({ process: { pid: Number(said) } });
  expect(readFileSync(join(dir, manifest.bin['custody-note']), 'utf8')).toMatch(/^#!\/bin\/sh\n/);
});

it('that is not built fails no launcher, and says how to build it', () => {
  const own = launcher();
  const { dir, link } = installed();
  rmSync(join(dir, 'pty', 'note', 'build'), { recursive: true });
  const words = ['exit', 'r', '--code', '0'];
  expect(spawnSync(link, words, { env: own.env, encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: expect.stringMatching(/^custody-note: the client is not built.*npm rebuild/),
  });
  expect(spawnSync(link, [...words, '--strict'], { env: own.env }).status).toBe(1);
  const cli = join(dir, 'dist', 'cli.cjs');
  const answer = spawnSync(process.execPath, [cli, 'note', ...words, '--json'], { env: own.env, encoding: 'utf8' });
  expect(answer.status).toBe(8);
  expect(JSON.parse(answer.stdout).error).toMatchObject({
    code: 'note_client_missing',
    next: [expect.stringMatching(/rebuild/), expect.anything()],
  });
  expect(program).toMatch(/cli\.cjs$/);
});
