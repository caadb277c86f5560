/**
 * How large the file and the rows of its journal are, and the pages in it that hold nothing. They are used again before
 * the file grows; a store that was made by this version (auto_vacuum = INCREMENTAL) also gives them back to the file
 * system, a few at a time.
 */
import type { Connection } from './connection.ts';

export interface StoreSpace {
  readonly bytes: number;
  readonly freeBytes: number;
  /** Whether the file can become smaller. */
  readonly shrinks: boolean;
}

export interface Space {
  measure(): StoreSpace;
  /** Bytes of the content of a row of the journal, on average of at most `most` that lie evenly among all. */
  meanJournalRowBytes(most: number): number;
  /** Cuts off at most so many free pages; belongs into a write transaction. */
  giveBack(pages: number): void;
}

/** What PRAGMA auto_vacuum answers for INCREMENTAL. */
const incremental = 2;

export function createSpace(connection: Connection): Space {
  const read = (setting: string): number => connection.pragma(setting, { simple: true }) as number;
  const ends = connection.prepare('SELECT min(position) AS first, max(position) AS last FROM journal');
  const bytesFrom = connection
    .prepare(`SELECT octet_length(event_id) + octet_length(type) + octet_length(outcome) + octet_length(envelope)
      + octet_length(digest) FROM journal WHERE position >= ? ORDER BY position LIMIT 1`)
    .pluck();
  return {
    meanJournalRowBytes(most) {
      const { first, last } = ends.get() as { first: number | null; last: number | null };
      if (first === null || last === null) return 0;
      const positions = last - first + 1;
      const samples = Math.min(most, positions);
      let bytes = 0;
      for (let n = 0; n < samples; n += 1)
        bytes += bytesFrom.get(first + Math.floor((n * positions) / samples)) as number;
      return bytes / samples;
    },
    measure() {
      const pageBytes = read('page_size');
      return {
        bytes: read('page_count') * pageBytes,
        freeBytes: read('freelist_count') * pageBytes,
        shrinks: read('auto_vacuum') === incremental,
      };
    },
    giveBack: (pages) => void connection.pragma(`incremental_vacuum(${Math.trunc(pages)})`),
  };
}
