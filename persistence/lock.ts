/**
 * One writing process per state directory (JRN-13, ruling 17): it holds `BEGIN EXCLUSIVE` on lock.db for its whole life.
 * The kernel drops the lock with the process, so a killed runtime leaves nothing to clean up, and a second opener learns
 * at once, not after a timeout. lock.db holds no data.
 *
 * The lock is a POSIX record lock: it vanishes when *any* descriptor of the file is closed in this process. Nothing but
 * SQLite may open lock.db or custody.db while the store is open.
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { StoreError, storeErrorOf } from './errors.ts';
import type { StoreWarning } from './filesystem.ts';
import { createPrivateFile, privateFile } from './permissions.ts';

export interface RuntimeLock {
  readonly warnings: readonly StoreWarning[];
  release(): void;
}

/** Throws StoreError `runtime_busy` when another process (or another store of this one) holds the lock. */
export function acquireRuntimeLock(stateDir: string): RuntimeLock {
  const path = join(stateDir, 'lock.db');
  createPrivateFile(path);
  const warnings = privateFile(path);
  const database = openLock(path);
  try {
    // Without a journal file beside it: nothing is ever written, so there is nothing to roll back after a kill.
    database.pragma('journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
  } catch (thrown) {
    database.close();
    const error = storeErrorOf(thrown);
    if (error?.code === 'store_busy') {
      throw new StoreError('runtime_busy', `another Custody process is the writer of ${stateDir}`, thrown);
    }
    throw error ?? thrown;
  }
  return { warnings, release: () => database.close() };
}

function openLock(path: string): Database.Database {
  try {
    // No timeout: who finds the lock taken must say so, because its holder lives for days.
    return new Database(path, { fileMustExist: true, timeout: 0 });
  } catch (thrown) {
    throw storeErrorOf(thrown) ?? thrown;
  }
}
