/** Texts that are handed over: each a private file, of which the journal gets the digest (PRIV-01, ruling 12). */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { storeErrorOf } from '../../../persistence/errors.ts';
import { Serial } from '../../runtime/serial.ts';

/** Lowercase hex SHA-256. */
export const textDigest = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * The file is complete and synced when this resolves, and so before anything refers to it; with true unless it had been
 * there already. Its name has to follow from the text: then nobody's text can take the place of another. Rejects with a
 * StoreError where the state directory takes nothing, full or read-only, and leaves nothing of the text there.
 */
export async function keepPrivateText(path: string, text: string): Promise<boolean> {
  try {
    return await keep(path, text);
  } catch (error) {
    throw storeErrorOf(error) ?? error;
  }
}

const perFile = new Serial();

export interface Reference<T> {
  /** Writes down what refers to the text. */
  commit(): Promise<T>;
  /** Whether that has become part of the journal; asked after the commit, also when it has failed. */
  isCommitted(): boolean;
}

/**
 * Keeps a text and then commits what refers to it. Where nothing came to refer to it, because the commit was refused or
 * the disk is full, the file goes again: it is in no record, so nobody would ever miss or remove it. One at a time for
 * each file, as another request may hand over the same text at this moment.
 */
export function referToPrivateText<T>(path: string, text: string, { commit, isCommitted }: Reference<T>): Promise<T> {
  return perFile.run(path, async () => {
    const isNew = await keepPrivateText(path, text);
    try {
      return await commit();
    } finally {
      if (isNew && !isCommitted()) await rm(path, { force: true });
    }
  });
}

async function keep(path: string, text: string): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const present = await readFile(path, 'utf8').catch(() => undefined);
  if (present === text) return false;
  // A name of its own: somebody else may be handing over the same text at this moment.
  const fresh = `${path}.${randomUUID()}`;
  try {
    await write(fresh, text);
    await rename(fresh, path);
    return true;
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

async function write(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
