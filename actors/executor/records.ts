/**
 * What the repository knows of a worktree (gitrepository-layout(5), worktrees/<id>), taken away by files: git is a program
 * that a repository can make run others.
 */
import { closeSync, cpSync, lstatSync, readFileSync, rmdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { emptyWholly, type Left } from './emptying.ts';
import { errnoOf } from './files.ts';
import { at, openParent, withDirectory } from './place.ts';
import type { Ticket } from './ticket.ts';

export interface Records {
  readonly dev: string;
  readonly ino: string;
}

/**
 * Which directory they are, as long as they lead to the worktree of the ticket and lie where those of worktrees do; null
 * where there are none.
 */
export function recordsOf({ path, fsIdentity: { gitdir } }: Ticket): Records | null {
  if (basename(dirname(gitdir)) !== 'worktrees') return null;
  try {
    // One line, and relative to where it stands where git was told so (worktree.useRelativePaths).
    const pointer = readFileSync(join(gitdir, 'gitdir'), 'utf8').replace(/\n$/, '');
    if (resolve(gitdir, pointer) !== join(path, '.git')) return null;
    return identityOf(gitdir);
  } catch {
    return null;
  }
}

function identityOf(gitdir: string): Records {
  const { dev, ino } = lstatSync(gitdir, { bigint: true });
  return { dev: String(dev), ino: String(ino) };
}

/** The commit or branch that was checked out, for whoever opens the archive. */
export function headIn({ fsIdentity: { gitdir } }: Ticket): string | null {
  try {
    return readFileSync(join(gitdir, 'HEAD'), 'utf8').trim().slice(0, 4_096);
  } catch {
    return null;
  }
}

/** Index, reflog and HEAD go into the archive: nothing else names commits that no branch holds. */
export function keepRecords({ fsIdentity: { gitdir } }: Ticket, records: Records | null, to: string): void {
  if (records === null || !isStill(gitdir, records)) return;
  cpSync(gitdir, to, { recursive: true, verbatimSymlinks: true, errorOnExist: false, force: true });
}

const isStill = (gitdir: string, { dev, ino }: Records): boolean => {
  const found = lstatSync(gitdir, { bigint: true, throwIfNoEntry: false });
  return found?.isDirectory() === true && String(found.dev) === dev && String(found.ino) === ino;
};

/** Takes away the very records that were found before, and none that were made since under the same name. */
export function removeRecords({ fsIdentity: { gitdir } }: Ticket, records: Records, step: () => void): readonly Left[] {
  if (!isStill(gitdir, records)) return [];
  const parent = openParent(dirname(gitdir));
  try {
    const emptied = withDirectory(parent, basename(gitdir), (directory) =>
      emptyWholly(directory, { shown: gitdir, step }),
    );
    const left = emptied?.left ?? [];
    if (left.length > 0) return left;
    step();
    rmdirSync(at(parent, basename(gitdir)));
    return [];
  } catch (error) {
    // `git worktree prune` takes away what leads nowhere.
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  } finally {
    closeSync(parent);
  }
}
