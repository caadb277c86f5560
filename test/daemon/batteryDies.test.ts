/** PROMO-06: whoever runs the containment battery may die at any of its gates, and nothing of it is left. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readlinkSync } from 'node:fs';
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

/** Everybody who works in a directory, or in one that has been removed from under them. */
function workersIn(directory: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return isAlive(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(directory);
      } catch {
        return false;
      }
    });
}

async function expectNothingLeft(nth: number): Promise<void> {
  const directory = join(workDirectory(), 'run');
  mkdirSync(directory, { mode: 0o700 });
  const child = spawn(process.execPath, [program, directory, guardian(), String(nth)], { stdio: 'ignore' });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
  expect(readdirSync(directory)).toHaveLength(1);
  await endInterruptedChecks(directory);
  expect(readdirSync(directory)).toEqual([]);
  await eventually('the end of what was left', () => workersIn(directory).length === 0 || undefined);
}

describe('a battery that is killed', () => {
  it.each(Array.from({ length: 15 }, (_, at) => at + 1))('at gate %i leaves nothing', (nth) => expectNothingLeft(nth));
});
