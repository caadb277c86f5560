/** What each pass over the observed runs cost and saw (METR-01): the newest ones, bounded in number. */
import type { Connection } from '../connection.ts';
import { rowDigest } from '../digest.ts';

export interface Pass {
  readonly wallMs: number;
  readonly elapsedUs: number;
  /** Reads of procfs (OBS-01). */
  readonly reads: number;
  readonly lookedAt: number;
  /** Due, and left for the next pass. */
  readonly deferred: number;
  /** How many were seen as what, by `result` or `unknown:reason`. */
  readonly outcomes: Readonly<Record<string, number>>;
}

export interface PassesTable {
  add(pass: Pass): void;
  /** Without those whose row is damaged: they are figures and no evidence, and the full check names them. */
  newest(limit: number): readonly Pass[];
}

const kept = 10_000;

type Row = Omit<Pass, 'outcomes'> & { readonly outcomes: string };

const digestOf = ({ wallMs, elapsedUs, reads, lookedAt, deferred, outcomes }: Row): string =>
  rowDigest(wallMs, elapsedUs, reads, lookedAt, deferred, outcomes);

export function createPassesTable(connection: Connection): PassesTable {
  const add = connection.prepare(`INSERT INTO passes
    (wall_ms, elapsed_us, reads, looked_at, deferred, outcomes, digest) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const trim = connection.prepare('DELETE FROM passes WHERE pass <= ?');
  const newest = connection.prepare(`SELECT wall_ms AS wallMs, elapsed_us AS elapsedUs, reads, looked_at AS lookedAt,
    deferred, outcomes, digest FROM passes ORDER BY pass DESC LIMIT ?`);

  return {
    add(pass) {
      const row = { ...pass, outcomes: JSON.stringify(pass.outcomes) };
      const { wallMs, elapsedUs, reads, lookedAt, deferred, outcomes } = row;
      const added = add.run(wallMs, elapsedUs, reads, lookedAt, deferred, outcomes, digestOf(row));
      trim.run(Number(added.lastInsertRowid) - kept);
    },
    newest: (limit) =>
      (newest.all(limit) as Array<Row & { readonly digest: string }>)
        .filter(({ digest, ...row }) => digest === digestOf(row))
        .map(({ digest, ...row }) => ({ ...row, outcomes: JSON.parse(row.outcomes) })),
  };
}
