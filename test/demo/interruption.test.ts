/** However it ends, it cleans up: signals at every stage of the story, a reader that leaves, a promise that is not kept. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { finished, json, run } from '../cli/support/program.ts';
import { eventually } from '../support/eventually.ts';
import { demo, nobodyLeft, processesOf, type Stage, said, stage, start } from './support/stage.ts';

let at: Stage;
let before: string[];
beforeEach(() => {
  at = stage();
  before = at.untouched();
});
afterEach(() => at.remove());

async function expectNothingLeft(): Promise<void> {
  expect(at.leftFiles()).toEqual([]);
  expect(at.untouched()).toEqual(before);
  await nobodyLeft(at);
}

describe('custody demo, ended by a signal', () => {
  const moments = [
    { signal: 'SIGTERM', status: 143, when: 'while the repository is cloned', moment: /git clone/ },
    { signal: 'SIGTERM', status: 143, when: 'while the host is checked', moment: /custody init/ },
    { signal: 'SIGINT', status: 130, when: 'while the daemon starts', moment: /daemon start/ },
    { signal: 'SIGTERM', status: 143, when: 'while a worktree is made', moment: /worktrees add/ },
    { signal: 'SIGHUP', status: 129, when: 'while the agent is launched', moment: /runs exec/ },
    { signal: 'SIGINT', status: 130, when: 'while the agent waits for an answer', moment: /asks: may I count/ },
    { signal: 'SIGHUP', status: 129, when: 'while somebody begins to watch', moment: /attach \w+ --read-only/ },
    { signal: 'SIGTERM', status: 143, when: 'while there is no daemon', moment: /are gone/ },
    { signal: 'SIGINT', status: 130, when: 'while somebody types without a daemon', moment: /types "yes"/ },
    { signal: 'SIGTERM', status: 143, when: 'while somebody stays behind', moment: /holder/ },
  ] as const;

  it.each(moments)('$signal ($status) $when', async ({ signal, status, moment }) => {
    const child = start(at, []);
    const ended = finished(child);
    await said(child, moment);
    child.kill(signal);
    const { code, stderr, stdout } = await ended;
    const told = `error: the demonstration was ended by ${signal} (interrupted)\n`;
    expect({ code, stderr }).toEqual({ code: status, stderr: told });
    expect(stdout).toMatch(/removed +\S*custody-demo-/);
    await expectNothingLeft();
  });

  it('finishes when the signal comes after the last word', async () => {
    const child = start(at, []);
    const ended = finished(child);
    await said(child, /Cleaning up/);
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
    await expectNothingLeft();
  });

  it('takes a second signal while it cleans up for impatience, not for an order', async () => {
    const child = start(at, []);
    const ended = finished(child);
    await said(child, /asks: may I count/);
    child.kill('SIGINT');
    await said(child, /Cleaning up/);
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
    await expectNothingLeft();
  });
});

describe('custody demo, otherwise ended', () => {
  it('hangs up whoever watches when it is killed outright', async () => {
    const child = start(at, []);
    const ended = finished(child);
    const watching = () => processesOf(at).filter((process) => process.includes(' sessions attach '));
    await eventually('somebody watches', () => (watching().length > 0 ? true : undefined));
    child.kill('SIGKILL');
    await ended;
    try {
      await eventually('nobody watches any more', () => (watching().length === 0 ? true : undefined));
    } finally {
      const [scratch = ''] = at.leftFiles();
      const env = { ...at.env, CUSTODY_HOME: join(at.tmp, scratch, 'state') };
      expect(await run(['daemon', 'stop'], { env })).toMatchObject({ code: 0 });
    }
    await nobodyLeft(at);
  });

  it('names who is left, known by nothing but a command line', async () => {
    const child = start(at, ['--json']);
    const ended = finished(child);
    const [scratch = ''] = await eventually('there is a scratch directory', () =>
      at.leftFiles().length > 0 ? at.leftFiles() : undefined,
    );
    const argv = ['-c', 'read -r line', scratch];
    const left = spawn('/bin/sh', argv, { cwd: '/', env: {}, stdio: ['pipe', 'ignore', 'ignore'] });
    try {
      const { code, stdout } = await ended;
      expect(code).toBe(1);
      expect(JSON.parse(stdout).error).toMatchObject({ code: 'demo_not_cleaned' });
      expect(JSON.parse(stdout).error.message).toContain(`(${left.pid})`);
    } finally {
      left.stdin.end();
    }
    await nobodyLeft(at);
  });

  it('cleans up and is content when its reader has seen enough', async () => {
    const child = start(at, []);
    const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
    await said(child, /asks: may I count/).then(
      () => child.stdout?.destroy(),
      () => {},
    );
    expect(await ended).toBe(0);
    await expectNothingLeft();
  });

  it('fails with what it expected and what it saw when a promise is not kept, and cleans up', async () => {
    const bin = tools();
    // Terminals are opened with it too.
    const real = (at.env.PATH ?? '').split(delimiter).find((dir) => existsSync(join(dir, 'setsid')));
    const fake = `#!/bin/sh\ntest "$1" = -c && exec ${real}/setsid "$@"\nexit 0\n`;
    writeFileSync(join(bin, 'setsid'), fake, { mode: 0o755 });
    const ended = await demo(at, ['--json'], { env: { PATH: `${bin}${delimiter}${at.env.PATH}` } });
    expect(ended).toMatchObject({ code: 1, stderr: '' });
    const { error } = json(ended);
    expect(error).toMatchObject({ code: 'demo_failed', retryable: false });
    expect(error?.message).toContain('root ended, tree not drained');
    expect(error?.next.length).toBeGreaterThan(0);
    await expectNothingLeft();
  });

  it('fails when the check does not pass, and cleans up', async () => {
    const bin = tools();
    // Never counts the same twice.
    writeFileSync(join(bin, 'wc'), '#!/bin/sh\necho $$\n', { mode: 0o755 });
    const ended = await demo(at, ['--json'], { env: { PATH: `${bin}${delimiter}${at.env.PATH}` } });
    expect(ended.code).toBe(1);
    expect(json(ended).error?.message).toMatch(/begins with "right".*"code":1/);
    await expectNothingLeft();
  });

  it('names the program that it would miss before it begins', async () => {
    const bin = tools();
    for (const dir of (at.env.PATH ?? '').split(delimiter)) link(dir, bin);
    const ended = await demo(at, ['--json'], { env: { PATH: bin } });
    expect(ended.code).toBe(8);
    expect(json(ended).error).toMatchObject({ code: 'tool_missing', next: ['install setsid'] });
    await expectNothingLeft();
  });

  it('says so when it has no room', async () => {
    const ended = await demo(at, ['--json'], { env: { TMPDIR: join(at.dir, 'no', 'such', 'directory') } });
    expect(ended.code).toBe(10);
    expect(json(ended).error).toMatchObject({ code: 'scratch_unavailable' });
    await expectNothingLeft();
  });
});

function tools(): string {
  const bin = join(at.dir, 'bin');
  mkdirSync(bin);
  return bin;
}

/** Everything that `dir` offers but setsid. */
function link(dir: string, bin: string): void {
  for (const name of existsSync(dir) ? readdirSync(dir) : []) {
    if (name === 'setsid') continue;
    try {
      symlinkSync(join(dir, name), join(bin, name));
    } catch {
      // An earlier directory of the path has it.
    }
  }
}
