/**
 * The store as somebody reads it who may not write: without the lock, beside a daemon or after its death. Nothing is
 * migrated, repaired or recorded, and the file stays as it is, byte for byte (JRN-09). What a daemon commits meanwhile
 * shows in the next statement.
 */
import { join } from 'node:path';
import { type Connection, connectForReading } from './connection.ts';
import { StoreError, withStoreErrors } from './errors.ts';
import { checkSchema } from './migrations.ts';
import { exists } from './permissions.ts';
import { type ActorsTable, createActorsTable } from './tables/actors.ts';
import { createJournalTable, type JournalTable } from './tables/journal.ts';
import { createLinksTable, type LinksTable } from './tables/links.ts';
import { createMetaTable, type MetaTable } from './tables/meta.ts';
import { createRepositoriesTable, type RepositoriesTable } from './tables/repositories.ts';

export interface StoreReader {
  readonly actors: Pick<ActorsTable, 'read' | 'readMany' | 'list' | 'count' | 'idsStartingWith'>;
  readonly journal: Pick<JournalTable, 'page' | 'lastPosition'>;
  readonly links: Pick<LinksTable, 'of' | 'find'>;
  readonly meta: Pick<MetaTable, 'get'>;
  readonly repositories: Pick<RepositoriesTable, 'find'>;
  close(): void;
}

/** A connection to what this program can read. Throws StoreError: `store_missing`, `store_corrupt` or `store_newer`. */
export function connectToKnown(stateDir: string): Connection {
  const database = join(stateDir, 'custody.db');
  if (!exists(database)) throw new StoreError('store_missing', `there is no store in ${stateDir}`);
  checkSchema(database);
  return connectForReading(database);
}

/** Throws StoreError: `store_missing`, `store_corrupt`, `store_newer`, or what reading ran into. */
export function openForReading(stateDir: string): StoreReader {
  const connection = connectToKnown(stateDir);
  try {
    return {
      actors: withStoreErrors(createActorsTable(connection)),
      journal: withStoreErrors(createJournalTable(connection)),
      links: withStoreErrors(createLinksTable(connection)),
      meta: withStoreErrors(createMetaTable(connection)),
      repositories: withStoreErrors(createRepositoriesTable(connection)),
      close: () => void connection.close(),
    };
  } catch (thrown) {
    connection.close();
    throw thrown;
  }
}
