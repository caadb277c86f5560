/** Worktrees that somebody else made, and generations on their way to their end. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallArguments } from '../../../actors/daemon/api/contract.ts';
import type { TestDaemon } from '../../support/daemon.ts';

export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, {
    cwd,
    env: { PATH: process.env.PATH },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** A worktree that Custody has not made. */
export function foreignWorktree({ home }: TestDaemon, name = 'theirs'): string {
  const path = join(home.dir, name);
  git(home.repo, 'worktree', 'add', '-q', '-b', name, path);
  return path;
}

/** Registered, with the contract of the host, so that nothing but what a test adds keeps it from being taken over. */
export async function watched(daemon: TestDaemon, name = 'theirs') {
  const path = foreignWorktree(daemon, name);
  const view = await daemon.call('worktrees.register', { path });
  await daemon.event({ actor: view.generationId, type: 'contract.verified' });
  return view;
}

type Change = Omit<CallArguments<'worktrees.authority'>, 'id'>;

export const control = (daemon: TestDaemon, id: string, change: Change) =>
  daemon.call('worktrees.authority', { id, ...change });

export const uncontrolled = (daemon: TestDaemon, id: string, change: Change) =>
  daemon.refusal('worktrees.authority', { id, ...change });

/** A worktree of ours that is sealed. */
export async function sealedGeneration(daemon: TestDaemon) {
  const view = await daemon.goal();
  await daemon.event({ actor: view.generationId, type: 'contract.verified' });
  await daemon.call('worktrees.close', { id: view.generationId });
  return { ...(await daemon.call('worktrees.seal', { id: view.generationId })), goalId: view.goalId };
}

/** What the common git directory says of who is in control; undefined where it says nothing. */
export function authorityRecord({ home }: TestDaemon): { installationId: string; generations?: object } | undefined {
  try {
    return JSON.parse(readFileSync(join(home.repo, '.git', 'custody.json'), 'utf8'));
  } catch {
    return undefined;
  }
}
