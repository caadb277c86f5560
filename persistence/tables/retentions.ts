/** What was removed for good: one row for each checkpoint, each policy step and each round of artifacts (RET-03). Bounded. */
import type { Connection } from '../connection.ts';

export interface Retention {
  readonly wallMs: number;
  readonly what: 'checkpoint' | 'event_ids' | 'artifacts';
  /** Newest position of the journal then. */
  readonly position: number;
  /** JSON; its shape belongs to what was done. */
  readonly report: unknown;
}

export interface RetentionsTable {
  insert(retention: Retention): void;
  /** Newest first. */
  newest(limit: number): readonly Retention[];
}

export const keptRetentions = 1_000;

export function createRetentionsTable(connection: Connection): RetentionsTable {
  const insert = connection.prepare('INSERT INTO retentions (wall_ms, what, position, report) VALUES (?, ?, ?, ?)');
  const trim = connection.prepare('DELETE FROM retentions WHERE retention <= ?');
  const newest = connection.prepare(`SELECT wall_ms AS wallMs, what, position, report FROM retentions
    ORDER BY retention DESC LIMIT ?`);

  return {
    insert({ wallMs, what, position, report }) {
      const { lastInsertRowid } = insert.run(wallMs, what, position, JSON.stringify(report));
      trim.run(Number(lastInsertRowid) - keptRetentions);
    },
    newest: (limit) =>
      (newest.all(limit) as Array<Retention & { report: string }>).map((row) => ({
        ...row,
        report: JSON.parse(row.report),
      })),
  };
}
