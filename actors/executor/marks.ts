/**
 * What became of a ticket, as one file in its directory whose name says it. A mark changes by rename, so that of an executor
 * that begins and a daemon that revokes exactly one has its way.
 */
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, readOwn, syncDirectory, writeWhole } from './files.ts';

export const marks = ['live', 'begun', 'superseded', 'stale', 'used'] as const;
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

export const hasMark = (directory: string, mark: Mark): boolean => existsSync(join(directory, mark));
