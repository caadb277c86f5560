/** How far an executor has come with a ticket, so that the next start of it goes on where a dead one was. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { canonicalJson } from '../../machines/canonical.ts';
import { decimalSchema } from '../../machines/identity.ts';
import { asideName } from './aside.ts';
import { readOwn, writeWhole } from './files.ts';
import { receiptSchema } from './ticket.ts';

const progressSchema = z.strictObject({
  /**
   * `aside`: it may be on its way to its holder. `consuming`: it was there, and is being archived or removed; written only
   * before there was the mark that says so now.
   */
  phase: z.enum(['aside', 'consuming']),
  began: receiptSchema.shape.began,
  /** The private directory that it is put into; beside the worktree where the usual place is on another file system. */
  holder: z.string().startsWith('/'),
  /** Which directory git keeps its records of the worktree in; null where it keeps none. */
  records: z.strictObject({ dev: decimalSchema, ino: decimalSchema }).nullable(),
  head: z.string().max(4_096).nullable(),
});
export type Progress = z.infer<typeof progressSchema>;

const largest = 65_536;
const fileOf = (directory: string): string => join(directory, 'progress.json');

/** Undefined where nothing was begun. Throws for what cannot be read: what was done then cannot be told. */
export function progressIn(directory: string): Progress | undefined {
  const text = readOwn(fileOf(directory), largest);
  return text === undefined ? undefined : progressSchema.parse(JSON.parse(text));
}

/** Whether the worktree was put aside, and is not back; true as well where that cannot be told. */
export function isHeld(directory: string): boolean {
  try {
    const progress = progressIn(directory);
    if (progress === undefined) return false;
    if (progress.phase === 'consuming') return true;
    return lstatSync(join(progress.holder, asideName), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

export const recordProgress = (directory: string, progress: Progress): void =>
  writeWhole(fileOf(directory), canonicalJson(progress));
