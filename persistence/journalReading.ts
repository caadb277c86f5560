/**
 * The journal of an installation for somebody who only looks, beside a daemon that may be writing: one reading connection,
 * one view of the file from beginning to end, and nothing that could change it (JRN-09).
 */
import { mappingStoreErrors } from './errors.ts';
import { connectToKnown } from './reading.ts';
import { createJournalTable, type JournalEntry } from './tables/journal.ts';

const rowsAtOnce = 1_000;

/** Every row in order, the damaged ones without their content. Throws StoreError where there is no store that this program can read. */
export function* readJournal(stateDir: string): Generator<JournalEntry, void, undefined> {
  const connection = connectToKnown(stateDir);
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
