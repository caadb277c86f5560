/**
 * What became of each event id, per actor (JRN-04, JRN-05, ruling 2). Rows are small and outlive the journal rows that
 * they point to (RET-03). The event id leads the key, so "what did this request do" needs no other index.
 */
import type { Connection } from '../connection.ts';
import type { ActorAddress } from './actors.ts';
import type { JournaledOutcome } from './journal.ts';

export interface DedupRow {
  readonly payloadDigest: string;
  readonly outcome: JournaledOutcome;
  readonly version: number;
  readonly position: number;
}

export interface DedupTable {
  find(eventId: string, actorKey: number): DedupRow | undefined;
  insert(eventId: string, actorKey: number, row: DedupRow): void;
  /** All actors that an event id was applied to, in commit order. */
  applied(eventId: string): ReadonlyArray<DedupRow & { readonly actor: ActorAddress }>;
}

export function createDedupTable(connection: Connection): DedupTable {
  const columns = 'd.payload_digest AS payloadDigest, d.outcome, d.version, d.position';
  const find = connection.prepare(`SELECT ${columns} FROM dedup d WHERE d.event_id = ? AND d.actor = ?`);
  const insert = connection.prepare(`INSERT INTO dedup (event_id, actor, payload_digest, outcome, version, position)
    VALUES (?, ?, ?, ?, ?, ?)`);
  const applied = connection.prepare(`SELECT ${columns}, a.kind, a.id FROM dedup d JOIN actors a USING (actor)
    WHERE d.event_id = ? ORDER BY d.position`);

  return {
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
