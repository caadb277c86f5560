/**
 * What became of each event id, per actor (JRN-04, JRN-05, ruling 2). Rows are small and outlive the journal rows that
 * they point to (RET-03). The event id leads the key, so "what did this request do" needs no other index.
 */
import { type Start, startOf } from '../../machines/sequencedId.ts';
import type { Connection } from '../connection.ts';
import type { ActorAddress } from './actors.ts';
import type { JournaledOutcome } from './journal.ts';

export interface DedupRow {
  readonly payloadDigest: string;
  readonly outcome: JournaledOutcome;
  readonly version: number;
  readonly position: number;
}

export interface DedupCursor {
  readonly eventId: string;
  readonly actorKey: number;
}

export interface DedupTable {
  find(eventId: string, actorKey: number): DedupRow | undefined;
  insert(eventId: string, actorKey: number, row: DedupRow): void;
  /** All actors that an event id was applied to, in commit order. */
  applied(eventId: string): ReadonlyArray<DedupRow & { readonly actor: ActorAddress }>;
  /** Ids that a start of the daemon has numbered, in order of the id; others are passed over. Reads at most `limit` rows. */
  sequenced(
    after: DedupCursor,
    limit: number,
  ): { readonly rows: ReadonlyArray<DedupCursor & { readonly start: Start }>; readonly next: DedupCursor | undefined };
  remove(cursor: DedupCursor): void;
}

export function createDedupTable(connection: Connection): DedupTable {
  const columns = 'd.payload_digest AS payloadDigest, d.outcome, d.version, d.position';
  const find = connection.prepare(`SELECT ${columns} FROM dedup d WHERE d.event_id = ? AND d.actor = ?`);
  const insert = connection.prepare(`INSERT INTO dedup (event_id, actor, payload_digest, outcome, version, position)
    VALUES (?, ?, ?, ?, ?, ?)`);
  const applied = connection.prepare(`SELECT ${columns}, a.kind, a.id FROM dedup d JOIN actors a USING (actor)
    WHERE d.event_id = ? ORDER BY d.position`);
  const from = connection.prepare(`SELECT event_id AS eventId, actor AS actorKey FROM dedup
    WHERE (event_id, actor) > (?, ?) ORDER BY event_id, actor LIMIT ?`);
  const remove = connection.prepare('DELETE FROM dedup WHERE event_id = ? AND actor = ?');

  return {
    sequenced(after, limit) {
      const rows = from.all(after.eventId, after.actorKey, limit) as DedupCursor[];
      const sequenced = rows.flatMap((row) => {
        const start = startOf(row.eventId);
        return start === undefined ? [] : [{ ...row, start }];
      });
      return { rows: sequenced, next: rows.length < limit ? undefined : rows.at(-1) };
    },
    remove: ({ eventId, actorKey }) => void remove.run(eventId, actorKey),
    find: (eventId, actorKey) => find.get(eventId, actorKey) as DedupRow | undefined,
    insert: (eventId, actorKey, row) =>
      void insert.run(eventId, actorKey, row.payloadDigest, row.outcome, row.version, row.position),
    applied: (eventId) =>
      (applied.all(eventId) as Array<DedupRow & ActorAddress>).map(({ kind, id, ...row }) => ({
        ...row,
        actor: { kind, id },
      })),
  };
}
