/**
 * How large the file is, and the pages in it that hold nothing. They are used again before the file grows; a store that was
 * made by this version (auto_vacuum = INCREMENTAL) also gives them back to the file system, a few at a time.
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
  /** Cuts off at most so many free pages; belongs into a write transaction. */
  giveBack(pages: number): void;
}

/** What PRAGMA auto_vacuum answers for INCREMENTAL. */
const incremental = 2;

export function createSpace(connection: Connection): Space {
  const read = (setting: string): number => connection.pragma(setting, { simple: true }) as number;
  return {
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
