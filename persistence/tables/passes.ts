/** What each pass over the observed runs cost and saw (METR-01): the newest ones, bounded in number. */
import type { Connection } from '../connection.ts';
import { rowDigest } from '../digest.ts';
import { createTotalsTable } from './totals.ts';

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

/** What a pass cost, and what it could not tell. */
export interface PassCost extends Pick<Pass, 'wallMs' | 'elapsedUs' | 'reads'> {
  /** How many looks could not tell, by reason. */
  readonly unknowns: Readonly<Record<string, number>>;
}

/** Where a page ends; passes of one millisecond are told apart. */
export interface PassCursor {
  readonly wallMs: number;
  readonly pass: number;
}

export interface PassesTable {
  add(pass: Pass): void;
  /** Without those whose row is damaged: they are figures and no evidence, and the full check names them. */
  newest(limit: number): readonly Pass[];
  /** What passes that looked at anybody cost, of a window of wall time, both ends included. */
  costs(fromMs: number, untilMs: number): readonly Pick<Pass, 'elapsedUs' | 'reads'>[];
  /** The same passes by their time, in pages of at most `passesAtOnce`; `next` is the cursor of the page behind, undefined at the end. */
  page(
    fromMs: number,
    untilMs: number,
    after?: PassCursor,
  ): { readonly passes: readonly PassCost[]; readonly next: PassCursor | undefined };
  /** How many unknowns such passes saw, by reason. */
  unknowns(fromMs: number, untilMs: number): ReadonlyMap<string, number>;
}

/** A day of passes at one a second. */
export const keptPasses = 100_000;

/** What one turn of the event loop reads: some milliseconds. */
export const passesAtOnce = 2_000;

const unknownPrefix = 'unknown:';

type Row = Omit<Pass, 'outcomes'> & { readonly outcomes: string };

const digestOf = ({ wallMs, elapsedUs, reads, lookedAt, deferred, outcomes }: Row): string =>
  rowDigest(wallMs, elapsedUs, reads, lookedAt, deferred, outcomes);

interface PagedRow extends Omit<PassCost, 'unknowns'> {
  readonly pass: number;
  readonly lookedAt: number;
  /** Null where there is no unknown in it. */
  readonly outcomes: string | null;
}

const none: PassCost['unknowns'] = {};

function unknownsIn(outcomes: string | null): PassCost['unknowns'] {
  if (outcomes === null) return none;
  const seen = Object.entries(JSON.parse(outcomes) as Pass['outcomes']).filter(([name]) =>
    name.startsWith(unknownPrefix),
  );
  return Object.fromEntries(seen.map(([name, count]) => [name.slice(unknownPrefix.length), count]));
}

export function createPassesTable(connection: Connection): PassesTable {
  const add = connection.prepare(`INSERT INTO passes
    (wall_ms, elapsed_us, reads, looked_at, deferred, outcomes, digest) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const trim = connection.prepare('DELETE FROM passes WHERE pass <= ?');
  const newest = connection.prepare(`SELECT wall_ms AS wallMs, elapsed_us AS elapsedUs, reads, looked_at AS lookedAt,
    deferred, outcomes, digest FROM passes ORDER BY pass DESC LIMIT ?`);
  const costs = connection.prepare(
    'SELECT elapsed_us AS elapsedUs, reads FROM passes WHERE wall_ms BETWEEN ? AND ? AND looked_at > 0 ORDER BY pass',
  );
  // Passes that looked at nobody are read as well, so that a page is bounded; a damaged row may hold what is no JSON any more.
  const page =
    connection.prepare(`SELECT pass, wall_ms AS wallMs, elapsed_us AS elapsedUs, reads, looked_at AS lookedAt,
    CASE WHEN outcomes LIKE '%"${unknownPrefix}%' AND json_valid(outcomes) THEN outcomes END AS outcomes
    FROM passes WHERE (wall_ms, pass) > (?, ?) AND wall_ms <= ? ORDER BY wall_ms, pass LIMIT ?`);
  const unknowns = connection.prepare(`SELECT each.key AS name, sum(each.value) AS count
    FROM passes, json_each(passes.outcomes) AS each
    WHERE passes.wall_ms BETWEEN ? AND ? AND passes.outcomes LIKE '%"${unknownPrefix}%' AND each.key LIKE '${unknownPrefix}%'
    GROUP BY each.key ORDER BY each.key`);
  const totals = createTotalsTable(connection);

  function count({ lookedAt, elapsedUs, reads, outcomes }: Pass): void {
    if (lookedAt === 0) return;
    totals.add('passes', 1);
    totals.add('pass_us', elapsedUs);
    totals.add('pass_reads', reads);
    for (const [name, seen] of Object.entries(outcomes))
      if (name.startsWith(unknownPrefix)) totals.add('unknowns', seen, name.slice(unknownPrefix.length));
  }

  return {
    add(pass) {
      const row = { ...pass, outcomes: JSON.stringify(pass.outcomes) };
      const { wallMs, elapsedUs, reads, lookedAt, deferred, outcomes } = row;
      const added = add.run(wallMs, elapsedUs, reads, lookedAt, deferred, outcomes, digestOf(row));
      trim.run(Number(added.lastInsertRowid) - keptPasses);
      count(pass);
    },
    newest: (limit) =>
      (newest.all(limit) as Array<Row & { readonly digest: string }>)
        .filter(({ digest, ...row }) => digest === digestOf(row))
        .map(({ digest, ...row }) => ({ ...row, outcomes: JSON.parse(row.outcomes) })),
    costs: (fromMs, untilMs) => costs.all(fromMs, untilMs) as Pick<Pass, 'elapsedUs' | 'reads'>[],
    page(fromMs, untilMs, after = { wallMs: fromMs, pass: -1 }) {
      const rows = page.all(after.wallMs, after.pass, untilMs, passesAtOnce) as PagedRow[];
      const last = rows.length < passesAtOnce ? undefined : (rows.at(-1) as PagedRow);
      return {
        passes: rows
          .filter(({ lookedAt }) => lookedAt > 0)
          .map(({ wallMs, elapsedUs, reads, outcomes }) => ({
            wallMs,
            elapsedUs,
            reads,
            unknowns: unknownsIn(outcomes),
          })),
        next: last && { wallMs: last.wallMs, pass: last.pass },
      };
    },
    unknowns: (fromMs, untilMs) =>
      new Map(
        (unknowns.all(fromMs, untilMs) as { name: string; count: number }[]).map(({ name, count: seen }) => [
          name.slice(unknownPrefix.length),
          seen,
        ]),
      ),
  };
}
