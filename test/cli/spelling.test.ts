import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { spelling } from '../../cli/spelling.ts';

it('a hint calls the program as it can be called: by name where that is this program, else by its path', () => {
  const dir = mkdtempSync(join(tmpdir(), 'custody-spelling-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const [own, other, bin, otherBin] = ['own.cjs', 'other.cjs', 'bin', 'otherBin'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
    string,
  ];
  for (const file of [own, other]) writeFileSync(file, '');
  for (const [directory, target] of [
    [bin, own],
    [otherBin, other],
  ] as const) {
    mkdirSync(directory);
    symlinkSync(target, join(directory, 'custody'));
  }
  const called = (PATH?: string) => spelling({ env: { PATH }, program: own });
  expect(called(`/nowhere:${bin}`)).toBe('custody');
  expect(called(`${otherBin}:${bin}`)).toBe(`node ${own}`);
  for (const path of [undefined, '', '/nowhere']) expect(called(path)).toBe(`node ${own}`);
  const spaced = join(dir, "it's here.cjs");
  writeFileSync(spaced, '');
  expect(spelling({ env: {}, program: spaced })).toBe(`node '${dir}/it'\\''s here.cjs'`);
});
