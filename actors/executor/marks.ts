/**
 * What became of a ticket, as one file in its directory whose name says it. A mark changes by rename, so that of an executor
 * that begins and a daemon that revokes exactly one has its way. A mark goes forward only: whoever has seen it withdrawn may be
 * undoing its work already.
 */
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, readOwn, syncDirectory, writeWhole } from './files.ts';
import { isHeld } from './progress.ts';

/**
 * `begun`: the worktree may be on its way to its holder, and goes back where the ticket is withdrawn. `taken`: it was there
 * while the ticket still counted, and its executor finishes. `disturbed`: somebody else was noted in the worktree after its seal, so that nobody
 * vouches for it any more.
 */
export const marks = ['live', 'begun', 'taken', 'superseded', 'stale', 'disturbed', 'used'] as const;
/** Why a ticket counts no more. */
export type Withdrawn = Extract<Mark, 'superseded' | 'stale' | 'disturbed'>;
export type Mark = (typeof marks)[number];

const largestMark = 65_536;

/** Undefined where nothing is known of the ticket. */
export function markIn(directory: string): { readonly mark: Mark; readonly text: string } | undefined {
  // What is renamed while it is looked for is found under the later name.
  for (const mark of [...marks, ...marks]) {
    const text = readOwn(join(directory, mark), largestMark);
    if (text !== undefined) return { mark, text };
  }
  return undefined;
}

/** `text` is what everybody may see of the ticket. */
export const issueMark = (directory: string, text: string): void => writeWhole(join(directory, 'live'), text);

/** False where it is not `from` any more. */
export function changeMark(directory: string, from: Mark, to: Mark): boolean {
  try {
    renameSync(join(directory, from), join(directory, to));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
  syncDirectory(directory);
  return true;
}

/**
 * Takes power from a ticket; false while its executor has the worktree. One that has begun and taken nothing yet finds its
 * mark changed after the move, and undoes it. Control is not raced past a worktree that is under way; one in which somebody
 * may write is called back from there as well, for what was written would be lost.
 */
export function withdrawMark(directory: string, to: Withdrawn, isInPlace: () => boolean): boolean {
  if (changeMark(directory, 'live', to)) return true;
  if (hasMark(directory, 'begun') && (to === 'disturbed' || isInPlace())) changeMark(directory, 'begun', to);
  if (hasMark(directory, 'begun') || hasMark(directory, 'taken')) return false;
  return hasMark(directory, 'used') || !isHeld(directory);
}

export const hasMark = (directory: string, mark: Mark): boolean => existsSync(join(directory, mark));
