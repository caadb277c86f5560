/** Whom a survey could not look into, from a procfs that is made of files. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { missesOnly } from '../../actors/observe/lineage.ts';
import { surveyed } from '../../actors/observe/linux/census.ts';
import { createProcReader } from '../../actors/observe/linux/proc.ts';

interface Made {
  readonly state: string;
  readonly threads: number;
  /** With memory and an environment of its own, as whoever runs a program. */
  readonly runs: boolean;
}

function surveyOf(...made: readonly Made[]) {
  const root = mkdtempSync(join(tmpdir(), 'custody-census-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [at, { state, threads, runs }] of made.entries()) {
    const directory = join(root, String(at + 1));
    mkdirSync(directory);
    const behind = Array.from({ length: 40 }, (_, field) => (field === 16 ? threads : 7)).join(' ');
    writeFileSync(join(directory, 'stat'), `${at + 1} (x) ${state} ${behind}\n`);
    const memory = runs ? 'VmSize:\t100 kB\n' : '';
    writeFileSync(join(directory, 'status'), `Name:\tx\nPPid:\t1\nUid:\t5\t5\t5\t5\n${memory}Threads:\t${threads}\n`);
    if (!runs) continue;
    writeFileSync(join(directory, 'environ'), 'A=1\0');
    symlinkSync('/', join(directory, 'cwd'));
  }
  const { looked, skipped } = surveyed(createProcReader(), root, { uid: 5, variable: 'A', directories: [] });
  return { looked, skipped };
}

it('threads of the kernel and what has ended and waits for its parent are nobody who was passed over', () => {
  const program = { state: 'S', threads: 1, runs: true };
  const kernelThread = { state: 'I', threads: 1, runs: false };
  const corpse = { state: 'Z', threads: 1, runs: false };
  expect(surveyOf(program, kernelThread, corpse)).toEqual({ looked: 1, skipped: [] });
});

it('one whose first thread has ended and whose others have not is passed over', () => {
  expect(surveyOf({ state: 'Z', threads: 2, runs: false })).toEqual({ looked: 0, skipped: [1] });
});

it('nothing is missing of a survey that misses those alone whose place is known', () => {
  const known = new Set([1, 2]);
  expect([[], [1], [1, 2], [2, 3]].map((skipped) => missesOnly(skipped, known))).toEqual([true, true, true, false]);
});
