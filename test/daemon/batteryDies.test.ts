/** PROMO-06: whoever runs the containment battery may die at any of its gates, and nothing of it is left. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { endInterruptedChecks } from '../../actors/daemon/contract/selfCheck.ts';
import { isAlive } from '../guardian/support/processes.ts';
import { guardian } from '../guardian/support/programs.ts';
import { workDirectory } from '../guardian/support/scope.ts';
import { bundleFixture } from '../support/bundleFixture.ts';
import { eventually } from '../support/eventually.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = join(root, 'node_modules', '.cache', 'custody-tests', `dyingBattery-${process.pid}.mjs`);

beforeAll(() => {
  bundleFixture('dyingBattery', program);
  return () => execFileSync('rm', ['-f', program]);
});

/** What a process has of the file system: where it works, and what it has open. */
function placesOf(pid: number): string[] {
  try {
    const links = ['cwd', ...readdirSync(`/proc/${pid}/fd`).map((fd) => `fd/${fd}`)];
    return links.map((link) => readlinkSync(`/proc/${pid}/${link}`));
  } catch {
    return [];
  }
}

/** Workloads work in a directory, or in one that has been removed from under them; guardians hold it open. */
function holdersOf(directory: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isAlive(pid) && placesOf(pid).some((place) => place.startsWith(directory)));
}

/** After the n-th gate, or when the program that stands in for the guardian kills it. */
async function expectNothingLeft(nth: number, guardianPath = guardian()): Promise<void> {
  const directory = join(workDirectory(), 'run');
  mkdirSync(directory, { mode: 0o700 });
  const child = spawn(process.execPath, [program, directory, guardianPath, String(nth)], { stdio: 'ignore' });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
  expect(readdirSync(directory)).toHaveLength(1);
  await endInterruptedChecks({ directory, guardianPath: guardian() });
  expect(readdirSync(directory)).toEqual([]);
  await eventually('the end of what was left', () => holdersOf(directory).length === 0 || undefined);
}

describe('a battery that is killed', () => {
  it.each(Array.from({ length: 15 }, (_, at) => at + 1))('at gate %i leaves nothing', (nth) => expectNothingLeft(nth));

  it('while it has stopped both processes of a guardian leaves nothing', async () => {
    const deadly = join(workDirectory(), 'guardian');
    // After both stops; whoever gives the next order is killed before it is carried out.
    const script = [
      '#!/bin/sh',
      `[ "$1 $5" = 'signal 19' ] && echo >> '${deadly}.stops'`,
      `[ "$1 $5" = 'signal 9' ] && [ "$(wc -l < '${deadly}.stops')" = 2 ] && kill -KILL $PPID && exit`,
      `exec '${guardian()}' "$@"`,
    ];
    writeFileSync(deadly, `${script.join('\n')}\n`);
    chmodSync(deadly, 0o755);
    await expectNothingLeft(0, deadly);
  });
});
