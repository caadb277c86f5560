/**
 * Makes a new database under another name and gives it its real name last, so that custody.db is always complete: an
 * empty or half-made file of that name is damage, not a beginning (JRN-09).
 */
import { linkSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from './clock.ts';
import { connect } from './connection.ts';
import { mappingStoreErrors } from './errors.ts';
import { foundStore, writeToken } from './identity.ts';
import { migrate } from './migrations.ts';
import { createPrivateFile, syncDirectory } from './permissions.ts';
import { createMetaTable } from './tables/meta.ts';

export interface FoundingPlan {
  readonly database: string;
  readonly token: string;
  readonly clock: Clock;
}

/** The caller holds the runtime lock and has seen that the database does not exist. */
export function found({ database, token, clock }: FoundingPlan): void {
  const draft = `${database}.new`;
  removeDraft(database);
  createPrivateFile(draft);
  const connection = connect(draft, { isNew: true });
  try {
    migrate(connection, clock);
    mappingStoreErrors(() => {
      // The file keeps its inode when it gets its name.
      const inode = String(statSync(draft, { bigint: true }).ino);
      writeToken(token, connection.transaction(() => foundStore(createMetaTable(connection), inode)).immediate());
    });
  } finally {
    // Closing moves the write-ahead log into the file and syncs it.
    connection.close();
  }
  mappingStoreErrors(() => {
    linkSync(draft, database);
    removeDraft(database);
    syncDirectory(dirname(database));
  });
}

/** Leftovers of a founding that was interrupted, before or after the file got its name. */
export function removeDraft(database: string): void {
  mappingStoreErrors(() => {
    for (const suffix of ['.new', '.new-wal', '.new-shm', '.new-journal']) rmSync(database + suffix, { force: true });
  });
}
