/** custody drill: the faults that users report, tried by the shipped program, and nothing of it left behind. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Finished, finished, json } from '../cli/support/program.ts';
import { nobodyLeft, type Stage, said, stage, start } from './support/stage.ts';

let at: Stage;
beforeEach(() => {
  at = stage();
});
afterEach(() => at.remove());

const drill = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> =>
  finished(start(at, args, { env, command: 'drill' }));

/** A program that stands in front of the real one in the PATH. */
function standIn(name: string, script: string): Readonly<Record<string, string>> {
  const bin = join(at.dir, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { PATH: `${bin}:${at.env.PATH}` };
}

async function expectCleanedUp(untouched: readonly string[]): Promise<void> {
  await nobodyLeft(at);
  expect(at.leftFiles()).toEqual([]);
  expect(at.untouched()).toEqual(untouched);
}

describe('custody drill', () => {
  it('tries every drill, says of each what was seen, and leaves nothing', async () => {
    const before = at.untouched();
    const ended = await drill(['--json']);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const { data } = json(ended);
    expect(data).toMatchObject({ passed: true, removed: true });
    const names = data.drills.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['D1a-wait', 'D1a', 'D1b', 'D2a', 'D2b', 'D3', 'D4', 'D6', 'D11', 'D10']);
    for (const one of data.drills) {
      expect(one).toMatchObject({ ok: true });
      expect(one.observed.length).toBeGreaterThan(0);
      expect(one.ms).toBeGreaterThan(0);
    }
    expect(existsSync(data.directory)).toBe(false);
    await expectCleanedUp(before);
  });

  it('tries those whose names begin so, and knows no others', async () => {
    const { code, stdout } = await drill(['d2b']);
    expect(code).toBe(0);
    expect(stdout).toContain('pass  D2b');
    expect(stdout).toContain('all 1 drills passed');
    const unknown = json(await drill(['D5', '--json']));
    expect(unknown).toMatchObject({
      ok: false,
      error: { code: 'usage', message: expect.stringContaining('D1a-wait') },
    });
  });

  it.each([
    ['D1a-wait', 'sleep', 'exit 1'],
    ['D11', 'head', 'cat > /dev/null & exit 0'],
  ])(
    '%s fails on a machine whose %s does not do its work, and is cleaned up all the same',
    async (name, tool, script) => {
      const before = at.untouched();
      const ended = await drill([name, '--json'], standIn(tool, script));
      expect(ended.code).toBe(1);
      const { data } = json(ended);
      expect(data).toMatchObject({ passed: false, removed: true, drills: [{ name, ok: false }] });
      expect(data.drills[0].observed).toHaveLength(1);
      await expectCleanedUp(before);
    },
  );

  it('is ended by SIGINT, and cleans up before it leaves', async () => {
    const before = at.untouched();
    const child = start(at, ['D1'], { command: 'drill' });
    const over = finished(child);
    await said(child, /D1a-wait/);
    child.kill('SIGINT');
    expect((await over).code).toBe(130);
    await expectCleanedUp(before);
  });
});
