/** Worktrees of somebody else in the throw-away repository, and what is said about them. */
import { join } from 'node:path';
import { noteClient } from '../../pty/note/client.ts';
import { outputOf, toolMissing } from '../demo/command.ts';
import { eventually } from '../demo/expectation.ts';
import { callersGit } from '../demo/repository.ts';
import type { Eligibility, Trying } from './row.ts';

export async function foreignWorktree({ repository, scratch, interruption }: Trying, name: string): Promise<string> {
  const path = join(scratch.dir, 'worktrees-of-others', name);
  const options = { cwd: repository, env: callersGit(scratch.env), signal: interruption.signal };
  await outputOf('git', ['worktree', 'add', '-q', '-b', name, path, 'main'], options);
  return path;
}

/** Registered, and told of the containment contract of this host. */
export async function watchedWorktree(trying: Trying, name: string) {
  const { installation, interruption } = trying;
  const view = await installation.call('worktrees.register', { path: await foreignWorktree(trying, name) });
  await eventually(interruption.signal, 'the worktree is told of the contract', async () => {
    const { contract } = await installation.call('worktrees.show', { id: view.generationId });
    return contract !== null;
  });
  return view;
}

/** What is said of a worktree at this moment, beside what others than the program know. */
export async function predicted(
  { installation }: Trying,
  id: string,
  justified: boolean,
): Promise<Eligibility & { readonly blockers: readonly string[] }> {
  const { eligible, blockers } = await installation.call('worktrees.predict', { id, allowUnseen: true });
  return { eligible, justified, blockers: blockers.map(({ code }) => code) };
}

/** As a launcher that knows nothing of a daemon: it leaves its note, and the daemon takes it in. */
export async function noteToInstallation({ scratch, interruption }: Trying, words: readonly string[]): Promise<void> {
  const client = noteClient();
  if (client === undefined) throw toolMissing('custody-note');
  const options = { env: scratch.env, signal: interruption.signal };
  await outputOf(client, [...words, '--strict', '--wait', '10000'], options);
}
