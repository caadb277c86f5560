/**
 * Where a listed worktree is now, by reading a few files of it and running nothing (INT-02, ruling 25). What is recorded is
 * the directory itself (WT-01); where it cannot be identified beyond doubt, why not, and then nothing is recorded.
 */
import { lstatSync, realpathSync, statSync } from 'node:fs';
import type { Place } from '../../../machines/note.ts';
import { fileIdentityOf } from '../../runtime/generations.ts';
import { commonDirectoryOf } from '../../runtime/locate.ts';

export type Located =
  | { readonly place: Place; readonly commonGitDir: string }
  | {
      readonly doubt:
        | 'directory_missing'
        | 'directory_unreadable'
        | 'not_a_directory'
        | 'not_a_worktree'
        | 'git_pointer_broken'
        | 'changed_while_looking';
    };

/** A link is followed once, here; what is recorded is where it leads. Never throws. */
export function located(path: string): Located {
  try {
    const real = realpathSync(path);
    if (!lstatSync(real).isDirectory()) return { doubt: 'not_a_directory' };
    if (lstatSync(`${real}/.git`, { throwIfNoEntry: false }) === undefined) return { doubt: 'not_a_worktree' };
    const identity = identityAt(real);
    if (identity === undefined || identity.gitdir === '') return { doubt: 'git_pointer_broken' };
    const { ino } = statSync(real, { bigint: true });
    if (String(ino) !== identity.ino) return { doubt: 'changed_while_looking' };
    return { place: { path: real, ...identity }, commonGitDir: commonDirectoryOf(identity.gitdir) };
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return { doubt: code === 'ENOENT' || code === 'ENOTDIR' ? 'directory_missing' : 'directory_unreadable' };
  }
}

function identityAt(real: string): ReturnType<typeof fileIdentityOf> | undefined {
  try {
    return fileIdentityOf(real);
  } catch {
    return undefined; // its .git leads nowhere, or cannot be read
  }
}
