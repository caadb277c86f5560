/**
 * `custody backup`: a consistent, compact copy (VACUUM INTO) while the runtime goes on. The copy carries a mark; whoever
 * opens it later as a store begins a new epoch (identity.ts). To restore: stop the daemon, move the old files away, put
 * the copy in place as custody.db.
 */
import { rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { aside } from './aside.ts';
import type { Connection } from './connection.ts';
import { mappingStoreErrors, StoreError } from './errors.ts';
import { backupMark } from './identity.ts';
import { createPrivateFile, syncDirectory } from './permissions.ts';
import { createMetaTable } from './tables/meta.ts';

export interface BackupReport {
  readonly path: string;
  readonly bytes: number;
}

/** The name is taken, or cannot be made: nothing was written. */
export class BackupTargetError extends Error {
  override readonly name = 'BackupTargetError';
  readonly code: 'backup_target_exists' | 'backup_target_unusable';
  readonly exitCode = 2;
  readonly retryable = false;
  readonly next: readonly string[] = ['name a new file in an existing directory'];

  constructor(code: 'backup_target_exists' | 'backup_target_unusable', message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** Rejects with BackupTargetError or StoreError; an incomplete copy is removed. */
export async function backUp(connection: Connection, toPath: string, wallMs: number): Promise<BackupReport> {
  const path = resolve(toPath);
  reserve(path);
  try {
    await aside(connection, 'VACUUM INTO ?', path);
    return mappingStoreErrors(() => {
      mark(path, wallMs);
      syncDirectory(dirname(path));
      return { path, bytes: statSync(path).size };
    });
  } catch (thrown) {
    rmSync(path, { force: true });
    throw thrown;
  }
}

/** VACUUM INTO accepts an empty file; making it ourselves decides its mode and that it is new. */
function reserve(path: string): void {
  let created: boolean;
  try {
    created = createPrivateFile(path);
  } catch (thrown) {
    if (thrown instanceof StoreError && thrown.code === 'store_full') throw thrown;
    throw new BackupTargetError('backup_target_unusable', `${path} cannot be made`, thrown);
  }
  if (!created) throw new BackupTargetError('backup_target_exists', `${path} exists and is not replaced`);
}

function mark(path: string, wallMs: number): void {
  const copy = new Database(path, { fileMustExist: true });
  try {
    copy.pragma('synchronous = FULL');
    createMetaTable(copy).set(backupMark, String(wallMs));
  } finally {
    copy.close();
  }
}
