import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Installation, installation, refused } from './support/installation.ts';

let here: Installation;
let goalId: string;
let path: string;

beforeAll(async () => {
  here = await installation({ env: { API_KEY: 'from here', SECRET: 'stays', LC_TIME: 'C' } });
  ({ goalId, path } = await here.goalWithWorktree());
});
afterAll(() => here.dispose());

const exec = (options: readonly string[], ...argv: string[]) =>
  here.custody(['runs', 'exec', goalId, ...options, '--', ...argv]);
const follow = (options: readonly string[], ...argv: string[]) => exec(['--follow', ...options], ...argv);

describe('what the workload gets', () => {
  it('its arguments as they are, options and empty ones included', async () => {
    const { stdout } = await follow([], 'printf', '[%s]\n', '--json', '', 'a b', '$HOME', '--');
    expect(stdout).toBe('[--json]\n[]\n[a b]\n[$HOME]\n[--]\n');
  });

  it('the allow-listed environment plus what is named', async () => {
    const { stdout } = await follow(['--env', 'API_KEY', '--env', 'MORE=a=b', '--env', '__proto__=x'], 'env');
    expect(stdout).toContain('\n__proto__=x\n');
    const env = Object.fromEntries(
      stdout
        .trimEnd()
        .split('\n')
        .map((one) => one.split(/=(.*)/s)),
    );
    expect(env).toMatchObject({ API_KEY: 'from here', MORE: 'a=b', LC_TIME: 'C', HOME: here.dir });
    expect(env).not.toHaveProperty('SECRET');
    expect(env).not.toHaveProperty('CUSTODY_HOME');
  });

  it('a directory inside its worktree, and none outside', async () => {
    mkdirSync(join(path, 'sub dir'));
    expect((await follow([], 'pwd')).stdout).toBe(`${path}\n`);
    expect((await follow(['--cwd', 'sub dir'], 'pwd')).stdout).toBe(`${join(path, 'sub dir')}\n`);
    for (const outside of ['..', 'sub dir/../..', 'missing']) {
      const finished = await exec(['--cwd', outside, '--json'], 'pwd');
      expect(refused(finished).exitCode).toBeGreaterThan(0);
    }
  });

  it('standard input from a file, from here, or none', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
    writeFileSync(join(here.repo, 'input.bin'), bytes);
    const fromFile = await follow(['--stdin', 'input.bin'], 'sh', '-c', 'cksum');
    const fromHere = await here.custody(['runs', 'exec', goalId, '--follow', '--stdin', '-', '--', 'cksum'], {
      input: bytes,
    });
    expect(fromHere.stdout).toBe(fromFile.stdout);
    expect(fromHere.stdout).toMatch(/^\d+ 256\n$/);
    expect((await follow([], 'wc', '-c')).stdout.trim()).toBe('0');
  });

  it("the caller's umask", async () => {
    const { stdout } = await follow([], 'sh', '-c', 'umask');
    expect(Number.parseInt(stdout, 8)).toBe(process.umask());
  });
});

describe('what comes back', () => {
  it.each([
    ['exit 7', 7],
    ['kill -TERM $$', 143],
    ['exit 0', 0],
  ])('with --exit-status: %s is %i', async (script, status) => {
    expect((await exec(['--wait', '--exit-status'], 'sh', '-c', script)).code).toBe(status);
    expect((await follow(['--exit-status'], 'sh', '-c', script)).code).toBe(status);
  });

  it('127 for a program that does not exist; without --exit-status the launch itself is what counts', async () => {
    expect((await exec(['--wait', '--exit-status'], 'no-such-program')).code).toBe(127);
    expect((await exec(['--wait'], 'sh', '-c', 'exit 7')).code).toBe(0);
  });

  it('both streams byte for byte, while it runs', async () => {
    const followed = await follow([], 'sh', '-c', 'printf "a\\033[31m\\nb"; printf "e\\n" >&2');
    expect(followed).toMatchObject({ code: 0, stdout: 'a\u001b[31m\nb', stderr: 'e\n' });
  });

  it('only the id with --quiet', async () => {
    const { stdout, stderr } = await exec(['--quiet', '--wait'], 'true');
    expect(stdout).toMatch(/^R[0-9a-z]{10}\n$/);
    expect(stderr).toBe('');
  });

  it('JSON lines with --follow --json: the launch, the output, the end, the result', async () => {
    const { stdout } = await follow(['--json'], 'echo', 'hello');
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((one) => JSON.parse(one));
    expect(lines[0]).toMatchObject({ ok: true, command: 'runs.exec' });
    expect(lines).toContainEqual({ stream: 'stdout', data: Buffer.from('hello\n').toString('base64') });
    expect(lines.at(-2)).toHaveProperty('end');
    expect(lines.at(-1)).toMatchObject({ ok: true, command: 'runs.wait', data: { result: { code: 0 } } });
  });
});

describe('time', () => {
  it('a wait that is too short exits 14 and names the run, which goes on', async () => {
    const finished = await exec(['--wait', '50ms', '--json'], 'sleep', '600');
    const error = refused(finished);
    expect(error).toMatchObject({ exitCode: 14, details: { runId: expect.stringMatching(/^R/) } });
    expect(error.next.join()).toContain(`custody runs wait ${error.details.runId}`);
    const stopped = await here.ask(['runs', 'stop', error.details.runId, '--grace', '0', '--wait', '20s']);
    expect(stopped.data).toMatchObject({ outcome: 'proved', assessment: { state: 'exited', proof: 'own_receipt' } });
  });

  it('--timeout ends everything', async () => {
    const { code } = await exec(['--timeout', '5s', '--grace', '0', '--wait', '--exit-status'], 'sleep', '600');
    expect(code).toBeGreaterThan(128);
  });
});

it('an escapee keeps the worktree from being sealed, and the refusal names it', async () => {
  const ran = await here.ask([
    'runs',
    'exec',
    goalId,
    '--on-root-exit',
    'wait',
    '--wait',
    '--',
    'sh',
    '-c',
    'setsid sleep 600 &',
  ]);
  const { runId, generationId } = ran.data;
  const early = await here.custody(['runs', 'wait', runId, '--until', 'proved', '--wait', '50ms', '--json']);
  expect(refused(early).exitCode).toBe(14);
  const processes = await here.custody(['processes']);
  expect(processes.stdout).toMatch(/live .*root ended, tree not drained/);
  expect(processes.stdout).toMatch(/\d+ S sleep/);
  await here.custody(['worktrees', 'close', generationId]);
  const sealing = await here.custody(['worktrees', 'seal', generationId, '--json']);
  expect(refused(sealing)).toMatchObject({ exitCode: 13 });
  expect(JSON.stringify(refused(sealing).details)).toContain(runId);
  const plainly = await here.custody(['worktrees', 'seal', generationId]);
  expect(plainly).toMatchObject({ code: 13, stdout: '' });
  expect(plainly.stderr).toContain('try: custody');
  await here.ask(['runs', 'stop', runId, '--grace', '0', '--wait', '20s']);
  expect((await here.ask(['worktrees', 'seal', generationId])).data.lifecycle).toBe('sealed');
});

it('a declared resident keeps the worktree and not the slot; a policy that is none is refused', async () => {
  const { goalId, generationId } = await here.goalWithWorktree();
  const leave = ['--', 'sh', '-c', 'setsid sleep 600 & exit 0'];
  for (const wrong of ['sleep=never', 'a-name-that-is-too-long', '=keep', ''])
    expect(
      refused(await here.custody(['runs', 'exec', goalId, '--resident', wrong, '--json', ...leave])).exitCode,
    ).toBe(2);
  const asked = ['runs', 'exec', goalId, '--resident', 'sleep', '--resident', 'tmux=keep'];
  const { runId, scopeId } = (await here.ask([...asked, ...leave])).data;
  const scopeOf = async () =>
    (await here.ask(['processes'])).data.scopes.find((scope: { scopeId: string }) => scope.scopeId === scopeId);
  await eventually('a tree that is left to residents', async () => (await scopeOf()).holdsSlot === false || undefined);
  expect((await here.custody(['processes'])).stdout).toContain('root ended, left to residents: sleep, tmux');
  await here.ask(['worktrees', 'close', generationId]);
  expect((await here.ask(['runs', 'wait', runId, '--until', 'proved', '--wait', '60s'])).data.scope.state).toBe(
    'exited',
  );
});
