/**
 * When each observed process was last looked at and what was seen: one row for each, written over, because an unchanged
 * observation is no event (RET-01). It also keeps when to ask again after an unknown, for passes of different processes.
 */
import type { Connection } from '../connection.ts';
import { digestOfEach } from '../digest.ts';

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
  /** Undefined also for a row that is damaged: then it is looked at now, which costs a look (the full check names it). */
  of(actorKey: number): Freshness | undefined;
  /** Those of the actors that pause after an unknown, in one statement; without damaged rows, as above. */
  pausing(actorKeys: readonly number[]): ReadonlyMap<number, Freshness>;
  /** The same row for each of the actors. */
  put(actorKeys: readonly number[], row: Freshness): void;
}

/** By the key of the actor: many have the same row. */
function digestsOf({ result, reason, bootId, monoMs, wallMs, failures, retryMonoMs }: Freshness) {
  return digestOfEach(result, reason, bootId, monoMs, wallMs, failures, retryMonoMs);
}

type Kept = Freshness & { readonly digest: string };

function intact(actorKey: number, { digest, ...row }: Kept): Freshness | undefined {
  return digest === digestsOf(row)(actorKey) ? row : undefined;
}

export function createFreshnessTable(connection: Connection): FreshnessTable {
  const columns = `result, reason, boot_id AS bootId, mono_ms AS monoMs, wall_ms AS wallMs, failures,
    retry_mono_ms AS retryMonoMs, digest`;
  const of = connection.prepare(`SELECT ${columns} FROM freshness WHERE actor = ?`);
  const pausing = connection.prepare(`SELECT actor AS key, ${columns} FROM freshness
    WHERE actor IN (SELECT value FROM json_each(?)) AND retry_mono_ms IS NOT NULL`);
  // Names of fields are text.
  const told = '(SELECT CAST(key AS INTEGER) AS key, value AS digest FROM json_each(?)) AS told';
  // A row that is written over is not asked again whether its actor exists, which costs more than the writing.
  const update = connection.prepare(`UPDATE freshness SET result = ?, reason = ?, boot_id = ?, mono_ms = ?, wall_ms = ?,
    failures = ?, retry_mono_ms = ?, digest = told.digest FROM ${told} WHERE actor = told.key`);
  const insert = connection.prepare(`INSERT INTO freshness
    (result, reason, boot_id, mono_ms, wall_ms, failures, retry_mono_ms, digest, actor)
    SELECT ?, ?, ?, ?, ?, ?, ?, told.digest, told.key FROM ${told} WHERE told.key NOT IN (SELECT actor FROM freshness)`);

  return {
    of(actorKey) {
      const found = of.get(actorKey) as Kept | undefined;
      return found && intact(actorKey, found);
    },
    pausing(actorKeys) {
      const rows = pausing.all(JSON.stringify(actorKeys)) as Array<Kept & { readonly key: number }>;
      return new Map(
        rows.flatMap(({ key, ...found }) => {
          const row = intact(key, found);
          return row === undefined ? [] : [[key, row] as const];
        }),
      );
    },
    put(actorKeys, row) {
      const { result, reason, bootId, monoMs, wallMs, failures, retryMonoMs } = row;
      const digestOf = digestsOf(row);
      const keys = JSON.stringify(Object.fromEntries(actorKeys.map((key) => [key, digestOf(key)])));
      const values = [result, reason, bootId, monoMs, wallMs, failures, retryMonoMs, keys];
      if (update.run(...values).changes < actorKeys.length) insert.run(...values);
    },
  };
}
