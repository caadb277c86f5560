/**
 * The journal: accepted events in commit order, as evidence and audit. Positions are consecutive, assigned inside the
 * transaction and covered by the row's digest, so that rows cannot change places unnoticed.
 */
import type { Connection } from '../connection.ts';
import { rowDigest } from '../digest.ts';
import { direction, limitOf, type Page } from '../paging.ts';
import { statementCache } from '../statements.ts';
import type { ActorAddress } from './actors.ts';

export type JournaledOutcome = 'changed' | 'noop';

export interface NewJournalRow {
  readonly position: number;
  readonly actorKey: number;
  readonly eventId: string;
  readonly type: string;
  readonly outcome: JournaledOutcome;
  /** Version of the actor after the event. */
  readonly version: number;
  /** JSON text of the envelope. */
  readonly envelope: string;
}

/** A damaged row is shown as damaged; its content is not shown, because it may be anything. */
export type JournalEntry =
  | ({ readonly intact: true; readonly actor: ActorAddress; readonly envelope: unknown } & Omit<
      NewJournalRow,
      'actorKey' | 'envelope'
    >)
  | { readonly intact: false; readonly actor: ActorAddress; readonly position: number };

export interface JournalFilter extends Page {
  readonly actor?: ActorAddress;
  readonly type?: string;
}

export interface JournalTable {
  lastPosition(): number;
  insert(row: NewJournalRow): void;
  page(filter?: JournalFilter): readonly JournalEntry[];
  /** What was journaled of an actor whose own row is gone, oldest first. Reads all of the journal. */
  orphans(actor: ActorAddress): readonly JournalEntry[];
}

interface RawRow extends NewJournalRow {
  readonly kind: string;
  readonly id: string;
  readonly digest: string;
}

const digestOf = (row: NewJournalRow): string =>
  rowDigest(row.position, row.actorKey, row.eventId, row.type, row.outcome, row.version, row.envelope);

export function createJournalTable(connection: Connection): JournalTable {
  const prepare = statementCache(connection);
  const last = prepare('SELECT coalesce(max(position), 0) FROM journal').pluck();
  const insert = prepare(`INSERT INTO journal (position, actor, event_id, type, outcome, version, envelope, digest)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);

  return {
    lastPosition: () => last.get() as number,
    insert: (row) =>
      void insert.run(
        row.position,
        row.actorKey,
        row.eventId,
        row.type,
        row.outcome,
        row.version,
        row.envelope,
        digestOf(row),
      ),
    page(filter = {}) {
      const { compare, order, after } = direction(filter);
      const conditions: string[] = [`j.position ${compare} ?`];
      const values: unknown[] = [after];
      if (filter.actor) {
        conditions.push('j.actor = (SELECT actor FROM actors WHERE kind = ? AND id = ?)');
        values.push(filter.actor.kind, filter.actor.id);
      }
      if (filter.type !== undefined) {
        conditions.push('j.type = ?');
        values.push(filter.type);
      }
      const sql = `SELECT j.position, j.actor AS actorKey, j.event_id AS eventId, j.type, j.outcome, j.version,
        j.envelope, j.digest, a.kind, a.id FROM journal j JOIN actors a USING (actor)
        WHERE ${conditions.join(' AND ')} ORDER BY j.position ${order} LIMIT ?`;
      return (prepare(sql).all(...values, limitOf(filter)) as RawRow[]).map(entryOf);
    },
    orphans({ kind, id }) {
      const sql = `SELECT j.position, j.actor AS actorKey, j.event_id AS eventId, j.type, j.outcome, j.version,
        j.envelope, j.digest, ? AS kind, ? AS id FROM journal j LEFT JOIN actors a USING (actor)
        WHERE a.actor IS NULL AND j.envelope ->> '$.actor.kind' = ? AND j.envelope ->> '$.actor.id' = ? ORDER BY j.position`;
      return (prepare(sql).all(kind, id, kind, id) as RawRow[]).map(entryOf);
    },
  };
}

function entryOf(raw: RawRow): JournalEntry {
  const actor: ActorAddress = { kind: raw.kind, id: raw.id };
  if (digestOf(raw) !== raw.digest) return { intact: false, actor, position: raw.position };
  return {
    intact: true,
    position: raw.position,
    actor,
    eventId: raw.eventId,
    type: raw.type,
    outcome: raw.outcome,
    version: raw.version,
    envelope: JSON.parse(raw.envelope),
  };
}
