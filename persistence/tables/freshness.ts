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
  /** Those of the actors that pause after an unknown, in one statement. */
  pausing(actorKeys: readonly number[]): ReadonlyMap<number, Freshness>;
  /** The same row for each of the actors. */
  put(actorKeys: readonly number[], row: Freshness): void;
}

export function createFreshnessTable(connection: Connection): FreshnessTable {
  const columns = `result, reason, boot_id AS bootId, mono_ms AS monoMs, wall_ms AS wallMs, failures,
    retry_mono_ms AS retryMonoMs`;
  const of = connection.prepare(`SELECT ${columns} FROM freshness WHERE actor = ?`);
  const pausing = connection.prepare(`SELECT actor AS key, ${columns} FROM freshness
    WHERE actor IN (SELECT value FROM json_each(?)) AND retry_mono_ms IS NOT NULL`);
  // A row that is written over is not asked again whether its actor exists, which costs more than the writing.
  const update = connection.prepare(`UPDATE freshness SET result = ?, reason = ?, boot_id = ?, mono_ms = ?, wall_ms = ?,
    failures = ?, retry_mono_ms = ? WHERE actor IN (SELECT value FROM json_each(?))`);
  const insert = connection.prepare(`INSERT INTO freshness
    (result, reason, boot_id, mono_ms, wall_ms, failures, retry_mono_ms, actor)
    SELECT ?, ?, ?, ?, ?, ?, ?, value FROM json_each(?) WHERE value NOT IN (SELECT actor FROM freshness)`);

  return {
    of: (actorKey) => of.get(actorKey) as Freshness | undefined,
    pausing(actorKeys) {
      const rows = pausing.all(JSON.stringify(actorKeys)) as Array<Freshness & { readonly key: number }>;
      return new Map(rows.map(({ key, ...row }) => [key, row]));
    },
    put(actorKeys, { result, reason, bootId, monoMs, wallMs, failures, retryMonoMs }) {
      const keys = JSON.stringify(actorKeys);
      const row = [result, reason, bootId, monoMs, wallMs, failures, retryMonoMs, keys];
      if (update.run(...row).changes < actorKeys.length) insert.run(...row);
    },
  };
}
