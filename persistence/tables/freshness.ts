/**
 * When each observed process was last looked at and what was seen: one row for each, written over, because an unchanged
 * observation is no event (RET-01). It also keeps when to ask again after an unknown, for passes of different processes.
 */
import type { Connection } from '../connection.ts';
import { rowDigest } from '../digest.ts';

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
  put(actorKey: number, row: Freshness): void;
}

const digestOf = (actorKey: number, row: Freshness): string => {
  const { result, reason, bootId, monoMs, wallMs, failures, retryMonoMs } = row;
  return rowDigest(actorKey, result, reason, bootId, monoMs, wallMs, failures, retryMonoMs);
};

export function createFreshnessTable(connection: Connection): FreshnessTable {
  const of =
    connection.prepare(`SELECT result, reason, boot_id AS bootId, mono_ms AS monoMs, wall_ms AS wallMs, failures,
    retry_mono_ms AS retryMonoMs, digest FROM freshness WHERE actor = ?`);
  const put = connection.prepare(`INSERT OR REPLACE INTO freshness
    (actor, result, reason, boot_id, mono_ms, wall_ms, failures, retry_mono_ms, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);

  return {
    of(actorKey) {
      const found = of.get(actorKey) as (Freshness & { readonly digest: string }) | undefined;
      if (found === undefined) return undefined;
      const { digest, ...row } = found;
      return digest === digestOf(actorKey, row) ? row : undefined;
    },
    put(actorKey, row) {
      const { result, reason, bootId, monoMs, wallMs, failures, retryMonoMs } = row;
      const digest = digestOf(actorKey, row);
      put.run(actorKey, result, reason, bootId, monoMs, wallMs, failures, retryMonoMs, digest);
    },
  };
}
