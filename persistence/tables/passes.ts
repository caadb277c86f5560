/** What each pass over the observed runs cost and saw (METR-01): the newest ones, bounded in number. */
import type { Connection } from '../connection.ts';

export interface Pass {
  readonly wallMs: number;
  readonly elapsedUs: number;
  /** Reads of procfs (OBS-01). */
  readonly reads: number;
  readonly lookedAt: number;
  /** Due, and left for the next pass. */
  readonly deferred: number;
  /** How many were seen as what, by `result` or `unknown:reason`. */
  readonly outcomes: Readonly<Record<string, number>>;
}

export interface PassesTable {
  add(pass: Pass): void;
  newest(limit: number): readonly Pass[];
}

const kept = 10_000;

export function createPassesTable(connection: Connection): PassesTable {
  const add = connection.prepare(
    'INSERT INTO passes (wall_ms, elapsed_us, reads, looked_at, deferred, outcomes) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const trim = connection.prepare('DELETE FROM passes WHERE pass <= ?');
  const newest = connection.prepare(`SELECT wall_ms AS wallMs, elapsed_us AS elapsedUs, reads, looked_at AS lookedAt,
    deferred, outcomes FROM passes ORDER BY pass DESC LIMIT ?`);

  return {
    add({ wallMs, elapsedUs, reads, lookedAt, deferred, outcomes }) {
      const { lastInsertRowid } = add.run(wallMs, elapsedUs, reads, lookedAt, deferred, JSON.stringify(outcomes));
      trim.run(Number(lastInsertRowid) - kept);
    },
    newest: (limit) =>
      (newest.all(limit) as Array<Omit<Pass, 'outcomes'> & { readonly outcomes: string }>).map((row) => ({
        ...row,
        outcomes: JSON.parse(row.outcomes),
      })),
  };
}
