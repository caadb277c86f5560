/**
 * When each observed process was last looked at and what was seen: one row for each, written over, because an unchanged
 * observation is no event (RET-01). It also keeps when to ask again after an unknown, for passes of different processes.
 */
import type { Connection } from '../connection.ts';

export interface Freshness {
  readonly result: 'alive' | 'ended' | 'unknown';
  readonly reason: string;
  readonly bootId: string;
  readonly monoMs: number;
  readonly wallMs: number;
  /** Unknowns in a row. */
  readonly failures: number;
  /** Not before this time of the same boot; null after an answer. */
  readonly retryMonoMs: number | null;
}

export interface FreshnessTable {
  of(actorKey: number): Freshness | undefined;
  put(actorKey: number, row: Freshness): void;
}

export function createFreshnessTable(connection: Connection): FreshnessTable {
  const of =
    connection.prepare(`SELECT result, reason, boot_id AS bootId, mono_ms AS monoMs, wall_ms AS wallMs, failures,
    retry_mono_ms AS retryMonoMs FROM freshness WHERE actor = ?`);
  const put = connection.prepare(`INSERT OR REPLACE INTO freshness
    (actor, result, reason, boot_id, mono_ms, wall_ms, failures, retry_mono_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);

  return {
    of: (actorKey) => of.get(actorKey) as Freshness | undefined,
    put: (actorKey, { result, reason, bootId, monoMs, wallMs, failures, retryMonoMs }) =>
      void put.run(actorKey, result, reason, bootId, monoMs, wallMs, failures, retryMonoMs),
  };
}
