/**
 * What the repository knows of a worktree that has moved (gitrepository-layout(5), worktrees/<id>): the way back to it, and
 * a lock, so that neither `git worktree prune` nor `git worktree remove` takes it for one that is not needed.
 */
import { existsSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** `left`: it could not be changed and leads to the old place. `none`: there is nothing that leads to the directory. */
export type GitMetadata = 'repaired' | 'left' | 'none';

const reason = 'custody: quarantined\n';

export async function lockedAt(gitdir: string, worktree: string): Promise<GitMetadata> {
  if (gitdir === '' || !existsSync(join(gitdir, 'gitdir'))) return 'none';
  try {
    await pointed(gitdir, worktree);
    // A lock of somebody else says the same.
    await writeFile(join(gitdir, 'locked'), reason, { flag: 'wx' }).catch(() => undefined);
    return 'repaired';
  } catch {
    return 'left';
  }
}

export async function unlockedAt(gitdir: string, worktree: string): Promise<void> {
  if (gitdir === '' || !existsSync(join(gitdir, 'gitdir'))) return;
  await pointed(gitdir, worktree);
  const lock = join(gitdir, 'locked');
  if ((await readFile(lock, 'utf8').catch(() => '')) === reason) await rm(lock, { force: true });
}

/** In one step: git reads either way, and never half of one. */
async function pointed(gitdir: string, worktree: string): Promise<void> {
  const file = join(gitdir, 'gitdir');
  await writeFile(`${file}.custody`, `${join(worktree, '.git')}\n`);
  await rename(`${file}.custody`, file);
}
