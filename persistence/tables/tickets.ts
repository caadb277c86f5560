/**
 * Tickets for executors (WT-07), one that counts per seal. Of the secret a digest is kept, so that the store holds nothing
 * with which a worktree could be removed.
 */
import type { Connection } from '../connection.ts';

export interface TicketRow {
  readonly ticketId: string;
  readonly generationId: string;
  readonly sealEpoch: number;
  readonly authorityEpoch: number;
  readonly executor: string;
  /** SHA-256, lowercase hex. */
  readonly secretDigest: string;
  /** Where its mark and its receipt lie. */
  readonly directory: string;
  /** Until when it may be begun, by the monotonic clock of that boot; null for as long as the seal stands. */
  readonly expiresMonoMs: number | null;
  readonly expiresBootId: string | null;
  readonly issuedWallMs: number;
  readonly state: 'issued' | 'superseded' | 'used';
}

export interface TicketsTable {
  /** Supersedes what was issued for the generation before. */
  issue(ticket: Omit<TicketRow, 'state'>): void;
  find(ticketId: string): TicketRow | undefined;
  findBySecretDigest(secretDigest: string): TicketRow | undefined;
  /** Those that still count; at most one per seal. */
  issuedFor(generationId: string): readonly TicketRow[];
  setState(ticketId: string, state: 'superseded' | 'used'): void;
  /** All that count, one per seal. */
  issued(): readonly TicketRow[];
}

export const ticketsSchema = `
CREATE TABLE tickets (
  ticket_id TEXT PRIMARY KEY,
  generation_id TEXT NOT NULL,
  seal_epoch INTEGER NOT NULL CHECK (seal_epoch >= 1),
  authority_epoch INTEGER NOT NULL CHECK (authority_epoch >= 1),
  executor TEXT NOT NULL,
  secret_digest TEXT NOT NULL UNIQUE,
  directory TEXT NOT NULL,
  expires_mono_ms INTEGER,
  expires_boot_id TEXT,
  issued_wall_ms INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'issued' CHECK (state IN ('issued', 'superseded', 'used'))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX tickets_issued ON tickets (generation_id, seal_epoch) WHERE state = 'issued';
`;

export function createTicketsTable(connection: Connection): TicketsTable {
  const supersede = connection.prepare(
    "UPDATE tickets SET state = 'superseded' WHERE generation_id = ? AND state = 'issued'",
  );
  const insert = connection.prepare(`INSERT INTO tickets
    (ticket_id, generation_id, seal_epoch, authority_epoch, executor, secret_digest, directory, expires_mono_ms,
      expires_boot_id, issued_wall_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const from = `SELECT ticket_id AS ticketId, generation_id AS generationId, seal_epoch AS sealEpoch,
    authority_epoch AS authorityEpoch, executor, secret_digest AS secretDigest, directory,
    expires_mono_ms AS expiresMonoMs, expires_boot_id AS expiresBootId, issued_wall_ms AS issuedWallMs, state
    FROM tickets`;
  const byId = connection.prepare(`${from} WHERE ticket_id = ?`);
  const byDigest = connection.prepare(`${from} WHERE secret_digest = ?`);
  const issued = connection.prepare(`${from} WHERE generation_id = ? AND state = 'issued' ORDER BY seal_epoch`);
  const counting = connection.prepare(`${from} WHERE state = 'issued'`);
  const change = connection.prepare('UPDATE tickets SET state = ? WHERE ticket_id = ?');

  return {
    issue(row) {
      supersede.run(row.generationId);
      insert.run(
        ...[row.ticketId, row.generationId, row.sealEpoch, row.authorityEpoch, row.executor, row.secretDigest],
        ...[row.directory, row.expiresMonoMs, row.expiresBootId, row.issuedWallMs],
      );
    },
    find: (ticketId) => byId.get(ticketId) as TicketRow | undefined,
    findBySecretDigest: (secretDigest) => byDigest.get(secretDigest) as TicketRow | undefined,
    issuedFor: (generationId) => issued.all(generationId) as TicketRow[],
    setState: (ticketId, state) => void change.run(state, ticketId),
    issued: () => counting.all() as TicketRow[],
  };
}
