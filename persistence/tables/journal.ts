/**
 * The journal: accepted events in commit order, as evidence and audit. Positions are consecutive when they are assigned,
 * inside the transaction, and covered by the row's digest, so that rows cannot change places unnoticed. A checkpoint leaves
 * holes behind (RET-01); the newest row stays, so no position is ever given out twice.
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
  /** Rows of one actor as they are, oldest first: for whoever decides which of them stay. */
  rowsOf(actorKey: number, after: number, limit: number): ReadonlyArray<NewJournalRow & { readonly intact: boolean }>;
  /** Position of the n-th newest row of an actor; 0 where it has fewer. */
  newestOf(actorKey: number, n: number): number;
  /** Whether an actor has an event of this type before `position`. */
  hasBefore(actorKey: number, type: string, position: number): boolean;
  /** Who was changed behind `position`, in order. */
  changedSince(
    position: number,
    limit: number,
  ): ReadonlyArray<{ readonly position: number; readonly actorKey: number }>;
  /** The oldest row at or behind `position`. */
  firstFrom(position: number): (NewJournalRow & { readonly intact: boolean }) | undefined;
  remove(position: number): void;
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
  const plain = `SELECT position, actor AS actorKey, event_id AS eventId, type, outcome, version, envelope, digest
    FROM journal`;
  const rowsOf = prepare(`${plain} WHERE actor = ? AND position > ? ORDER BY position LIMIT ?`);
  const firstFrom = prepare(`${plain} WHERE position >= ? ORDER BY position LIMIT 1`);
  const newestOf = prepare(
    'SELECT position FROM journal WHERE actor = ? ORDER BY position DESC LIMIT 1 OFFSET ?',
  ).pluck();
  const hasBefore = prepare('SELECT 1 FROM journal WHERE actor = ? AND type = ? AND position < ? LIMIT 1').pluck();
  const changedSince = prepare(
    'SELECT position, actor AS actorKey FROM journal WHERE position > ? ORDER BY position LIMIT ?',
  );
  const remove = prepare('DELETE FROM journal WHERE position = ?');

  return {
    rowsOf: (actorKey, after, limit) => (rowsOf.all(actorKey, after, limit) as RawRow[]).map(plainRow),
    newestOf: (actorKey, n) => (newestOf.get(actorKey, n - 1) as number | undefined) ?? 0,
    hasBefore: (actorKey, type, position) => hasBefore.get(actorKey, type, position) !== undefined,
    changedSince: (position, limit) =>
      changedSince.all(position, limit) as Array<{ position: number; actorKey: number }>,
    firstFrom(position) {
      const raw = firstFrom.get(position) as RawRow | undefined;
      return raw && plainRow(raw);
    },
    remove: (position) => void remove.run(position),
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

const plainRow = ({ digest, ...row }: RawRow): NewJournalRow & { readonly intact: boolean } => ({
  ...row,
  intact: digestOf(row) === digest,
});

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
