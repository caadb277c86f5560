/** WT-01: what a store with two requests for one directory ends up with; over a socket they would hardly ever meet. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { registerWorktree } from '../../actors/daemon/commands/worktreeRegistration.ts';
import type { DaemonContext } from '../../actors/daemon/context.ts';
import { protocol } from '../../machines/protocol.ts';
import { workDirectory } from '../guardian/support/scope.ts';
import { testHost } from '../host/support/testHost.ts';
import { makeRepository } from '../support/daemonHome.ts';

it('two requests of one moment register one generation', async () => {
  const directory = workDirectory();
  const repo = makeRepository(join(directory, 'repository'));
  const path = join(directory, 'worktree');
  execFileSync('git', ['worktree', 'add', '-q', '-b', 'work', path], { cwd: repo, stdio: 'ignore' });
  const { host, store } = testHost({ ...protocol });
  // The parts that this command uses.
  const context = { host, store } as Partial<DaemonContext> as DaemonContext;
  const register = () => registerWorktree(context, { path, controller: 'legacy' });
  const answers = await Promise.all([register(), register(), register()]);
  expect(new Set(answers.map(({ data }) => data.generationId)).size).toBe(1);
  expect(answers.map(({ data }) => data.isNew)).toEqual([true, false, false]);
  expect(host.list('worktreeGeneration')).toHaveLength(1);
});
