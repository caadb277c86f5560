/**
 * Opens custody.db. Settings that durability depends on are set and then read back (JRN-07): SQLite answers a refused
 * `journal_mode` with another mode instead of an error.
 */
import Database from 'better-sqlite3';
import { mappingStoreErrors, StoreError } from './errors.ts';

export type Connection = Database.Database;

/** sqliteBusyMs of section 0.2: a writer waits this long for a foreign lock, then defers (CONC-01). */
export const busyTimeoutMs = 250;

/** `Cust` in ASCII: tells our file from any other SQLite database. */
export const applicationId = 0x43757374;

/** Stands in for what SQLite answers to a setting; only tests replace it. */
export type ReadBack = (setting: string, value: unknown) => unknown;

const settings: ReadonlyArray<readonly [setting: string, assign: string, expected: unknown]> = [
  ['busy_timeout', `busy_timeout = ${busyTimeoutMs}`, busyTimeoutMs],
  ['journal_mode', 'journal_mode = WAL', 'wal'],
  ['synchronous', 'synchronous = FULL', 2],
  ['foreign_keys', 'foreign_keys = ON', 1],
  // Damaged pages are noticed when they are read, not when they have been misread.
  ['cell_size_check', 'cell_size_check = ON', 1],
  // Savepoints keep old page images; in a file they would cost a write for every submitted call.
  ['temp_store', 'temp_store = MEMORY', 2],
];

/** Opens an existing database for reading and writing. Throws StoreError; the file is never made or replaced. */
export function connect(path: string, readBack: ReadBack = (_, value) => value): Connection {
  const connection = mappingStoreErrors(() => new Database(path, { fileMustExist: true, timeout: busyTimeoutMs }));
  try {
    mappingStoreErrors(() => {
      for (const [, assign] of settings) connection.pragma(assign);
    });
    for (const [setting, , expected] of settings) {
      const value = readBack(
        setting,
        mappingStoreErrors(() => connection.pragma(setting, { simple: true })),
      );
      if (value !== expected) {
        throw new StoreError(
          'store_filesystem',
          `SQLite runs with ${setting}=${String(value)} here instead of ${String(expected)}; durability is not given`,
        );
      }
    }
    return connection;
  } catch (thrown) {
    connection.close();
    throw thrown;
  }
}

export interface Header {
  readonly applicationId: number;
  readonly schemaVersion: number;
}

/**
 * Looks at a database without being able to change it. A writing connection would move the write-ahead log into the file
 * when it closes, and a refused store has to stay as it was, byte for byte (JRN-09).
 */
export function readHeader(path: string): Header {
  return mappingStoreErrors(() => {
    const connection = new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
    try {
      return {
        applicationId: connection.pragma('application_id', { simple: true }) as number,
        schemaVersion: connection.pragma('user_version', { simple: true }) as number,
      };
    } finally {
      connection.close();
    }
  });
}
