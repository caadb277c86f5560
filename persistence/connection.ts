/**
 * Opens custody.db. Settings that durability depends on are set and then read back (JRN-07): SQLite answers a refused
 * `journal_mode` with another mode instead of an error.
 */
import Database from 'better-sqlite3';
import { rowDigest } from './digest.ts';
import { digestsSince } from './digestSchema.ts';
import { mappingStoreErrors, StoreError } from './errors.ts';

export type Connection = Database.Database;

/** What sqliteBusyMs of section 0.2 is by default: a writer waits this long for a foreign lock, then defers (CONC-01). */
export const defaultBusyMs = 250;

/** `Cust` in ASCII: tells our file from any other SQLite database. */
export const applicationId = 0x43757374;

/** Stands in for what SQLite answers to a setting; only tests replace it. */
export type ReadBack = (setting: string, value: unknown) => unknown;

type Setting = readonly [setting: string, assign: string, expected: unknown];

const busyTimeout = (busyMs: number): Setting => ['busy_timeout', `busy_timeout = ${busyMs}`, busyMs];

const settings: readonly Setting[] = [
  ['journal_mode', 'journal_mode = WAL', 'wal'],
  ['synchronous', 'synchronous = FULL', 2],
  ['foreign_keys', 'foreign_keys = ON', 1],
  // Damaged pages are noticed when they are read, not when they have been misread.
  ['cell_size_check', 'cell_size_check = ON', 1],
  // Savepoints keep old page images; in a file they would cost a write for every submitted call.
  ['temp_store', 'temp_store = MEMORY', 2],
];

export interface ConnectOptions {
  readonly busyMs?: number | undefined;
  readonly readBack?: ReadBack | undefined;
  /** For a file that is empty: one that can become smaller again. Later it has no effect. */
  readonly isNew?: boolean;
}

/** Opens an existing database for reading and writing. Throws StoreError; the file is never made or replaced. */
export function connect(path: string, options: ConnectOptions = {}): Connection {
  const { busyMs = defaultBusyMs, readBack = (_: string, value: unknown) => value, isNew = false } = options;
  const connection = mappingStoreErrors(() => new Database(path, { fileMustExist: true, timeout: busyMs }));
  const wanted = [busyTimeout(busyMs), ...settings];
  try {
    mappingStoreErrors(() => {
      // Before anything is written, the journal mode included: it decides how the pages of the file are laid out.
      if (isNew) connection.pragma('auto_vacuum = INCREMENTAL');
      for (const [, assign] of wanted) connection.pragma(assign);
    });
    for (const [setting, , expected] of wanted) {
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

/** Opens an existing database and can change nothing of it. Throws StoreError. */
export const connectForReading = (path: string, busyMs = defaultBusyMs): Connection =>
  mappingStoreErrors(() => new Database(path, { readonly: true, fileMustExist: true, timeout: busyMs }));

export interface Header {
  readonly applicationId: number;
  readonly schemaVersion: number;
  /** False when the text of the schema is not what the last migration left. */
  readonly isSchemaIntact: boolean;
  /** Of the schema as it is. */
  readonly schemaDigest: string;
}

/** Where the store keeps the digest of its schema. */
export const schemaRow = 'store.schema';

/** Of the text of every table, index and trigger; what SQLite adds by itself is left out. */
export function schemaDigest(connection: Connection): string {
  const rows = connection
    .prepare(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY 1, 2",
    )
    .raw()
    .all() as string[][];
  return rowDigest(...rows.flat());
}

function isSchemaIntact(connection: Connection, schemaVersion: number): boolean {
  if (schemaVersion < digestsSince) return true;
  try {
    const recorded = connection.prepare('SELECT value FROM meta WHERE name = ?').pluck().get(schemaRow);
    return recorded === schemaDigest(connection);
  } catch (thrown) {
    // There is no such table, or no such column: the word that names it is another one.
    if ((thrown as { code?: unknown }).code === 'SQLITE_ERROR') return false;
    throw thrown;
  }
}

/**
 * Looks at a database without being able to change it. A writing connection would move the write-ahead log into the file
 * when it closes, and a refused store has to stay as it was, byte for byte (JRN-09).
 */
export function readHeader(path: string): Header {
  return mappingStoreErrors(() => {
    const connection = connectForReading(path);
    try {
      const applicationId = connection.pragma('application_id', { simple: true }) as number;
      const schemaVersion = connection.pragma('user_version', { simple: true }) as number;
      const isIntact = isSchemaIntact(connection, schemaVersion);
      return { applicationId, schemaVersion, isSchemaIntact: isIntact, schemaDigest: schemaDigest(connection) };
    } finally {
      connection.close();
    }
  });
}
