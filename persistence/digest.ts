/**
 * A digest beside every row that decides something (ruling 27): a bit that flips inside a value passes SQLite's own
 * integrity check. Parts are joined with a separator that JSON and ids never contain, so that no two rows with different
 * columns have the same text.
 */
import { hash } from 'node:crypto';

const separator = '\u0000';

/** Lowercase hex SHA-256 over the columns, in the order given; null counts as the empty text. */
export function rowDigest(...columns: ReadonlyArray<string | number | null>): string {
  return hash('sha256', columns.join(separator), 'hex');
}
