import { mkdirSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyHome, type Home, json, run, withJson } from './support/program.ts';

let home: Home;
beforeAll(() => {
  home = emptyHome();
});
afterAll(() => home.remove());

const custody = (...args: string[]) => run(args, home);

describe('what no command understands', () => {
  it.each([
    [['gaols'], 'unknown command', 'custody goals'],
    [['help', 'gaols'], 'unknown command', 'custody goals'],
    [['help', 'runs', 'exe'], 'unknown command', 'custody runs exec'],
    [['session', 'attach', 'P1'], 'unknown command', 'custody sessions attach'],
    [['attach', 'P1'], 'unknown command', 'custody sessions attach'],
    [['list'], 'unknown command', 'custody runs list'],
    [['goals', 'lst'], 'unknown command', 'custody goals list'],
    [['runs'], 'needs one of: exec, list, show, logs, result, wait, stop', 'custody runs --help'],
    [['goals', 'add'], "missing required argument 'title'", 'custody goals add [options] <title>'],
    [['goals', 'show', 'G1', 'G2'], 'too many arguments', 'custody goals show [options] <goal>'],
    [['status', '--jsn'], 'unknown option', 'custody status --json'],
    [['goals', 'add', 'x', '--priority', '5000'], 'from -1000 to 1000', 'custody goals add --help'],
    [['runs', 'wait', 'R1', '--wait', 'soon'], 'Give a duration', 'custody runs wait --help'],
    [['runs', 'wait', 'R1', '--until', 'dawn'], 'ended, proved', 'custody runs wait --help'],
    [['runs', 'exec', 'G1', '-x', '--', 'ls'], "unknown option '-x'", 'custody runs exec GOAL [options] -- CMD'],
    [['runs', 'exec', 'G1', '--exit-status', '--', 'ls'], 'needs --wait, --follow or --attach', '--wait --exit-status'],
    [['runs', 'exec', 'G1', '--env', 'NOT_HERE', '--', 'ls'], 'no such variable', '--env NOT_HERE=VALUE'],
    [['runs', 'exec', 'G1', '--stdin', 'missing', '--', 'ls'], 'ENOENT', '--stdin FILE'],
    [['goals', 'add', 'x', '--request', '.'], 'EISDIR', '--request FILE'],
    [['events', '-f', '-n', '3', '--since', '1'], 'not from both', 'custody events --help'],
    [['completions', 'tcsh'], 'bash, zsh, fish', 'custody completions --help'],
  ])('%j exits 2 and names what would work', async (args, message, next) => {
    const plainly = await run(args, home);
    expect(plainly).toMatchObject({ code: 2, stdout: '' });
    expect(plainly.stderr).toContain(message);
    expect(plainly.stderr).toContain('(usage)');
    expect(plainly.stderr).toContain(next);

    const asJson = await run(withJson(args), home);
    expect(asJson).toMatchObject({ code: 2, stderr: '' });
    expect(json(asJson)).toMatchObject({ ok: false, error: { code: 'usage', retryable: false } });
    expect(json(asJson).error?.next.join('\n')).toContain(next);
  });

  it('what stands behind -- is the workload’s, options and all', async () => {
    const { code, stderr } = await custody(
      'runs',
      'exec',
      'G1',
      '--no-autostart',
      '--',
      'ls',
      '--json',
      '--help',
      '-x',
    );
    expect(code).toBe(9);
    expect(stderr).toContain('custody init');
  });
});

describe('without an installation', () => {
  it.each([
    [['status'], 9, 'store_missing'],
    [['goals', 'list'], 9, 'store_missing'],
    [['status', '--no-autostart'], 9, 'store_missing'],
    [['daemon', 'start'], 9, 'store_missing'],
    [['daemon', 'restart'], 9, 'store_missing'],
    [['daemon', 'status'], 10, 'daemon_not_running'],
    [['daemon', 'stop'], 10, 'daemon_not_running'],
  ])('%j says so and creates nothing', async (args, status, code) => {
    const answer = await run([...args, '--json'], home);
    expect(answer.code).toBe(status);
    expect(json(answer).error).toMatchObject({ code, next: [expect.stringMatching(/^custody (init|daemon start)$/)] });
    expect(readdirSync(home.dir)).toEqual(['tmp']);
  });

  it('a bare word shows where the state would be and starts nothing', async () => {
    const { code, stdout } = await custody();
    expect(code).toBe(0);
    expect(stdout).toContain(`${home.stateDir} (not created yet: custody init)`);
    const steps = stdout.split('\n').slice(3);
    expect(steps.filter((step) => step.length > 80)).toEqual([]);
    expect(json(await custody('--json'))).toMatchObject({ ok: true, data: { initialised: false } });
  });

  it('completion offers nothing and says nothing', async () => {
    expect(await custody('__complete', 'goals')).toEqual({ code: 0, signal: null, stdout: '', stderr: '' });
  });

  it('version and help need nobody', async () => {
    const { data } = json(await custody('version', '--json'));
    expect((await custody('version')).stdout).toBe(`${data.version}\n`);
    expect((await custody('--version')).stdout).toBe(`${data.version}\n`);
    expect((await custody('help', 'runs')).stdout).toBe((await custody('runs', '--help')).stdout);
    expect((await custody('help', 'runs', 'exec')).stdout).toBe((await custody('runs', 'exec', '--help')).stdout);
    expect((await custody('help', '--json')).stdout).toBe((await custody('--help')).stdout);
  });
});

it('--no-autostart refuses with the command that helps (ruling 22)', async () => {
  const initialised = emptyHome('with state');
  mkdirSync(initialised.stateDir, { mode: 0o700 });
  const answer = await run(['status', '--no-autostart', '--json'], initialised);
  expect(answer.code).toBe(10);
  expect(json(answer).error).toMatchObject({
    code: 'daemon_not_running',
    retryable: true,
    next: ['custody daemon start'],
  });
  expect(readdirSync(initialised.stateDir)).toEqual([]);
  initialised.remove();
});
