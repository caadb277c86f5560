/**
 * The journal of an installation for somebody who only looks, beside a daemon that may be writing: one reading connection,
 * one view of the file from beginning to end, and nothing that could change it (JRN-09).
 */
import Database from 'better-sqlite3';
import { mappingStoreErrors, StoreError } from './errors.ts';
import { exists } from './permissions.ts';
import { createJournalTable, type JournalEntry } from './tables/journal.ts';

const busyMs = 5_000;
const rowsAtOnce = 1_000;

/** Every row in order, the damaged ones without their content. Throws StoreError where there is no store to be read. */
export function* readJournal(databaseFile: string): Generator<JournalEntry, void, undefined> {
  if (!exists(databaseFile)) throw new StoreError('store_missing', `there is no store at ${databaseFile}`);
  const connection = mappingStoreErrors(
    () => new Database(databaseFile, { readonly: true, fileMustExist: true, timeout: busyMs }),
  );
  try {
    connection.exec('BEGIN');
    const journal = createJournalTable(connection);
    for (let after = 0; ; ) {
      const page = mappingStoreErrors(() => journal.page({ after, limit: rowsAtOnce }));
      yield* page;
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.position;
    }
  } finally {
    connection.close();
  }
}
