/**
 * What became of a ticket, as one file in its directory whose name says it. A mark changes by rename, so that of an executor
 * that begins and a daemon that revokes exactly one has its way.
 */
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, readOwn, syncDirectory, writeWhole } from './files.ts';

/** `disturbed`: somebody else was noted in the worktree after its seal, so that nobody vouches for it any more. */
export const marks = ['live', 'begun', 'superseded', 'stale', 'disturbed', 'used'] as const;
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
 * Takes power from a ticket; false when its executor has the worktree already. One that has begun and taken nothing yet
 * finds its mark changed after the move, and undoes it.
 */
export function withdrawMark(directory: string, to: Withdrawn, isInPlace: () => boolean): boolean {
  if (changeMark(directory, 'live', to)) return true;
  if (!hasMark(directory, 'begun')) return true;
  if (!isInPlace() || !changeMark(directory, 'begun', to)) return false;
  // Whoever moves it from now on finds the mark and undoes it; whoever was faster has looked at it before.
  if (isInPlace()) return true;
  changeMark(directory, to, 'begun');
  return false;
}

export const hasMark = (directory: string, mark: Mark): boolean => existsSync(join(directory, mark));
