/**
 * Takes a worktree from its place in one step: a rename into a private directory on the same file system, looked at before
 * and after. What turns out to be something else goes back.
 */
import { closeSync, lstatSync, realpathSync, renameSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { OperatingError } from '../runtime/operatingError.ts';
import { errnoOf, privateDirectory, syncDirectory } from './files.ts';
import { at, foundAt, gitDirectoryIn, isTicketed, mountsWithin, openParent, withDirectory } from './place.ts';
import type { Ticket } from './ticket.ts';

/** The name of the worktree in its holder. */
export const asideName = 'worktree';

export const notTheWorktree = ({ path }: Ticket, found: string): OperatingError =>
  new OperatingError({
    code: 'not_the_worktree',
    message: `${JSON.stringify(path)} is not the worktree of the ticket: ${found}; nothing was touched`,
    exitCode: 13,
    next: ['custody worktrees show WORKTREE'],
    details: { path, found },
  });

/** Throws `not_the_worktree`, `not_owner`, `worktree_locked`, `mount_inside` or `main_worktree` (exit 13). */
export function assertTakeable(ticket: Ticket): void {
  const { path, fsIdentity } = ticket;
  const real = realPathOf(ticket);
  if (`${fsIdentity.gitdir}${sep}`.startsWith(`${real}${sep}`)) {
    throw refused(
      'main_worktree',
      `the repository itself lies in ${JSON.stringify(path)}`,
      'leave it, or move it by hand',
    );
  }
  const parent = openParent(dirname(path));
  try {
    const owner = withDirectory(parent, basename(path), (directory) => {
      if (!isTicketed(directory, ticket)) throw notTheWorktree(ticket, 'another directory');
      if (gitDirectoryIn(directory, path) !== fsIdentity.gitdir) throw notTheWorktree(ticket, 'another git directory');
      return foundAt(directory).uid;
    });
    if (owner === undefined) throw notTheWorktree(ticket, 'no directory');
    if (owner !== process.geteuid?.())
      throw refused('not_owner', `${JSON.stringify(path)} belongs to user ${owner}`, 'let its owner use the ticket');
  } finally {
    closeSync(parent);
  }
  if (lstatSync(join(fsIdentity.gitdir, 'locked'), { throwIfNoEntry: false }))
    throw refused('worktree_locked', `${JSON.stringify(path)} is locked for git`, `git worktree unlock ${path}`);
  const [mount] = mountsWithin(real);
  if (mount !== undefined)
    throw refused('mount_inside', `${JSON.stringify(mount)} is a mount, which is never crossed`, `umount ${mount}`);
}

function realPathOf(ticket: Ticket): string {
  try {
    return join(realpathSync(dirname(ticket.path)), basename(ticket.path));
  } catch {
    throw notTheWorktree(ticket, 'no directory');
  }
}

const refused = (code: string, why: string, wayOut: string): OperatingError =>
  new OperatingError({ code, message: `${why}; nothing was touched`, exitCode: 13, next: [wayOut] });

/** Where it is put, by default and where that is another file system. */
export const holdersOf = ({ aside, ticketId, path }: Ticket): readonly [string, string] => [
  join(aside, ticketId),
  join(dirname(path), `.custody-aside-${ticketId}`),
];

/** Whether the worktree of the ticket lies in this holder. */
export function isIn(holder: string, ticket: Ticket): boolean {
  if (lstatSync(holder, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  const parent = openParent(holder);
  try {
    return withDirectory(parent, asideName, (directory) => isTicketed(directory, ticket)) ?? false;
  } finally {
    closeSync(parent);
  }
}

/** Whether it lies at its place. */
export function isAtItsPlace(ticket: Ticket): boolean {
  let parent: number;
  try {
    parent = openParent(dirname(ticket.path));
  } catch {
    return false;
  }
  try {
    return withDirectory(parent, basename(ticket.path), (directory) => isTicketed(directory, ticket)) ?? false;
  } finally {
    closeSync(parent);
  }
}

/**
 * Moves it, and looks at what was moved. Throws `not_the_worktree` when something else had taken its place, which is put
 * back, and what rename(2) says: EXDEV for a holder on another file system.
 */
export function take(ticket: Ticket, holder: string, step: (name: string) => void): void {
  const { path } = ticket;
  privateDirectory(holder);
  if (lstatSync(join(holder, asideName), { throwIfNoEntry: false })) {
    throw refused('holder_taken', `something else lies in ${JSON.stringify(holder)}`, `look at ${holder}`);
  }
  const parent = openParent(dirname(path));
  try {
    step('before the move');
    renameSync(at(parent, basename(path)), join(holder, asideName));
    step('after the move');
    if (!isIn(holder, ticket)) throw putBack(ticket, holder, parent);
  } finally {
    closeSync(parent);
  }
  syncDirectory(holder);
  syncDirectory(dirname(path));
}

/** Gives back what lies in the holder, whatever it is; the error says where it lies now. */
export function putBack(ticket: Ticket, holder: string, parent: number): OperatingError {
  const { path } = ticket;
  const place = at(parent, basename(path));
  try {
    if (lstatSync(place, { throwIfNoEntry: false }) !== undefined)
      throw Object.assign(new Error('taken'), { code: 'EEXIST' });
    renameSync(join(holder, asideName), place);
    return notTheWorktree(ticket, 'something else had taken its place, and is there again');
  } catch (error) {
    return new OperatingError({
      code: 'displaced',
      message: `something that is not the worktree of the ticket lies in ${JSON.stringify(holder)} and cannot go back (${errnoOf(error)})`,
      exitCode: 13,
      next: [`mv ${JSON.stringify(join(holder, asideName))} ${JSON.stringify(path)}`],
      details: { path, holder },
    });
  }
}
