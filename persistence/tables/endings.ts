/** The event after which an actor was settled and released: a checkpoint keeps it (RET-02). */
import type { Connection } from '../connection.ts';
import { statementCache } from '../statements.ts';

export interface Ending {
  readonly actorKey: number;
  readonly kind: string;
  readonly id: string;
  /** Position of the event. */
  readonly position: number;
}

export interface EndingsTable {
  /** The newest counts: an actor may have been taken up again meanwhile. */
  record(actorKey: number, position: number): void;
  /** The first actor behind `after` that is over now, and whose end was recorded. */
  next(after: number): Ending | undefined;
}

export function createEndingsTable(connection: Connection): EndingsTable {
  const prepare = statementCache(connection);
  const record = prepare(`INSERT INTO endings (actor, position) VALUES (?, ?)
    ON CONFLICT (actor) DO UPDATE SET position = excluded.position`);
  const next = prepare(`SELECT e.actor AS actorKey, a.kind, a.id, e.position FROM endings e JOIN actors a USING (actor)
    WHERE e.actor > ? AND a.settled = 1 AND a.released = 1 ORDER BY e.actor LIMIT 1`);

  return {
    record: (actorKey, position) => void record.run(actorKey, position),
    next: (after) => next.get(after) as Ending | undefined,
  };
}
