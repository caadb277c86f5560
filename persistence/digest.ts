/**
 * A digest beside every row that decides something (ruling 27): a bit that flips inside a value passes SQLite's own
 * integrity check. Parts are joined with a separator that JSON and ids never contain, so that no two rows with different
 * columns have the same text.
 */
import { hash } from 'node:crypto';

const separator = '\u0000';

type Column = string | number | null;

/** Lowercase hex SHA-256 over the columns, in the order given; null counts as the empty text. */
export function rowDigest(...columns: readonly Column[]): string {
  return hash('sha256', columns.join(separator), 'hex');
}

/** `rowDigest` of many rows that differ in their first column alone. */
export function digestOfEach(...rest: readonly Column[]): (first: string | number) => string {
  const common = separator + rest.join(separator);
  return (first) => hash('sha256', first + common, 'hex');
}
