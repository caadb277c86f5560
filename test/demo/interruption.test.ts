/** However it ends, it cleans up: signals at every stage of the story, a reader that leaves, a promise that is not kept. */
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { finished, json } from '../cli/support/program.ts';
import { demo, nobodyLeft, type Stage, said, stage, start } from './support/stage.ts';

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
    { signal: 'SIGTERM', status: 143, when: 'while there is no daemon', moment: /is gone/ },
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
    writeFileSync(join(bin, 'setsid'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
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
