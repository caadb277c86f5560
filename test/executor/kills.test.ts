/** WT-07: an executor that is killed at any step, and run again with the same ticket. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { bundleFixture } from '../support/bundleFixture.ts';
import { patienceMs } from '../support/patience.ts';
import { run, type SealedWorktree, sealedWorktree } from './support/sealedWorktree.ts';

/** Every step in a soak, with a second death at every step of the next run; otherwise every third, and one of those. */
const isSoak = process.env.CUSTODY_SOAK === '1';
const stride = isSoak ? 1 : 3;

const directory = fileURLToPath(new URL('../../node_modules/.cache/custody-tests', import.meta.url));
const program = join(directory, `dyingExecutor-${process.pid}.mjs`);
beforeAll(() => {
  mkdirSync(directory, { recursive: true });
  bundleFixture('../../executor/fixtures/dyingExecutor', program);
});

/** Whether it died before the nth change. */
function isKilledAt({ ticket, text, dir }: SealedWorktree, nth: number): boolean {
  const file = join(dir, 'ticket');
  writeFileSync(file, text, { mode: 0o600 });
  const args = [program, ticket.executor, file, String(nth)];
  const { signal, status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (signal === 'SIGKILL') return true;
  if (status !== 0) throw new Error(stderr);
  return false;
}

/** The place holds all of it or nothing, and nobody else has lost anything. */
function expectNothingHalf({ path, precious, git }: SealedWorktree): void {
  expect(readFileSync(join(precious, 'kept'), 'utf8')).toBe('kept\n');
  if (!existsSync(path)) return;
  expect(readFileSync(join(path, 'deep', 'er', 'file'), 'utf8')).toBe('x');
  expect(readdirSync(path)).toHaveLength(6);
  expect(git('-C', path, 'status', '--porcelain')).not.toContain(' D ');
}

function expectFinished({ path, ticket, git }: SealedWorktree): void {
  expect(existsSync(path)).toBe(false);
  expect(git('worktree', 'list', '--porcelain')).not.toContain(path);
  expect(existsSync(ticket.fsIdentity.gitdir)).toBe(false);
  const [archive, ...others] = readdirSync(ticket.aside);
  expect(others).toEqual([]);
  if (ticket.executor === 'custody-remove') {
    expect(archive).toBeUndefined();
    return;
  }
  const at = join(ticket.aside, archive!);
  expect(readdirSync(at).sort()).toEqual(['git', 'manifest.json', 'worktree']);
  expect(readFileSync(join(at, 'worktree', 'deep', 'er', 'file'), 'utf8')).toBe('x');
  expect(readFileSync(join(at, 'git', 'HEAD'), 'utf8')).toBe('ref: refs/heads/work\n');
}

it.for(['custody-remove', 'custody-archive'])(
  '%s finishes what a killed one has begun, and its place is never half empty',
  { timeout: 30 * patienceMs },
  async (executor, { annotate }) => {
    let kills = 0;
    for (let nth = 1; ; nth += stride) {
      const worktree = sealedWorktree({ executor });
      if (!isKilledAt(worktree, nth)) {
        expectFinished(worktree);
        break;
      }
      kills += 1;
      expectNothingHalf(worktree);
      const again = isSoak ? nth : 2;
      if (isKilledAt(worktree, again)) kills += 1;
      expectNothingHalf(worktree);
      const { receipt } = run(worktree);
      expect(receipt).toMatchObject({
        generationId: 'W1',
        outcome: executor.endsWith('remove') ? 'removed' : 'archived',
      });
      expectFinished(worktree);
    }
    await annotate(`${kills} kills of the executor`);
    expect(kills).toBeGreaterThan(5);
  },
);
