/** What the old system said of a run, what was derived here, and who was right, as far as that is known (PROMO-03). */
import type { Connection } from '../connection.ts';
import { rowDigest } from '../digest.ts';
import { damagedRow } from '../errors.ts';
import { limitOf } from '../paging.ts';

export const comparisonVerdicts = ['agreed', 'not_comparable', 'ours_wrong', 'theirs_wrong', 'undecided'] as const;
export type ComparisonVerdict = (typeof comparisonVerdicts)[number];

export interface Comparison {
  readonly comparisonId: string;
  readonly unitId: string;
  /** Version of the promotion with which this comparing began. */
  readonly round: number;
  readonly runId: string;
  readonly ours: string;
  readonly theirs: string;
  /** What was verified independently of both; null where nothing was. */
  readonly truth: string | null;
  readonly truthSource: 'guardian_receipt' | 'verified_file' | null;
  /** When the old system said so, by its own clock. */
  readonly toldWallMs: number;
  readonly comparedWallMs: number;
  readonly verdict: ComparisonVerdict;
  /** Ours says that it is over and theirs that it is not: acting on ours would do harm if ours is wrong. */
  readonly unsafe: boolean;
  readonly triagedBy: string | null;
  readonly triagedWallMs: number | null;
  readonly note: string | null;
}

export interface Triage {
  readonly comparisonId: string;
  readonly verdict: ComparisonVerdict;
  readonly by: string;
  readonly wallMs: number;
  readonly note: string | null;
}

/** Agreements of one round that are kept, the newest; disagreements all count, and are bounded by whoever compares. */
export const keptAgreements = 100_000;

export interface ComparisonCount {
  readonly verdict: ComparisonVerdict;
  readonly unsafe: boolean;
  readonly count: number;
}

/** One comparing of one repository. */
export interface ComparingRound {
  readonly unitId: string;
  readonly round: number;
}

/** A damaged row throws StoreError `store_corrupt`: one that is read wrongly may hide that we were wrong. */
export interface ComparisonsTable {
  /** Takes the place of an earlier one of the same id, also where that is damaged. */
  put(comparison: Comparison): void;
  find(comparisonId: string): Comparison | undefined;
  /** Ids of disagreements. */
  idsStartingWith(prefix: string, limit: number): readonly string[];
  /** Disagreements, those that are not decided first. */
  disagreements(of: ComparingRound, limit: number): readonly Comparison[];
  /** Nothing where there is no such comparison. */
  triage(triage: Triage): void;
  /**
   * What was compared before the round before this one goes, and so do the oldest agreements of this one. No disagreement of
   * a round that counts is removed: without it a gate could be green.
   */
  trim(of: ComparingRound): void;
  /** Reads each of the round, because a sum over damaged rows would not show it. */
  counts(of: ComparingRound): readonly ComparisonCount[];
}

type Raw = Omit<Comparison, 'unsafe'> & { readonly unsafe: number };

const columnsOf = (row: Raw) =>
  [
    ...[row.comparisonId, row.unitId, row.round, row.runId, row.ours, row.theirs, row.truth, row.truthSource],
    ...[row.toldWallMs, row.comparedWallMs, row.verdict, row.unsafe],
    ...[row.triagedBy, row.triagedWallMs, row.note],
  ] as const;

function intact(row: unknown): Comparison {
  const { digest, ...raw } = row as Raw & { readonly digest: string };
  if (digest !== rowDigest(...columnsOf(raw))) throw damagedRow(`comparison ${raw.comparisonId}`);
  return { ...raw, unsafe: raw.unsafe === 1 };
}

export function createComparisonsTable(connection: Connection): ComparisonsTable {
  const replace =
    connection.prepare(`INSERT OR REPLACE INTO comparisons (comparison_id, unit_id, round, run_id, ours, theirs, truth,
    truth_source, told_wall_ms, compared_wall_ms, verdict, unsafe, triaged_by, triaged_wall_ms, note, digest)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const from = `SELECT comparison_id AS comparisonId, unit_id AS unitId, round, run_id AS runId, ours, theirs, truth,
    truth_source AS truthSource, told_wall_ms AS toldWallMs, compared_wall_ms AS comparedWallMs, verdict, unsafe,
    triaged_by AS triagedBy, triaged_wall_ms AS triagedWallMs, note, digest FROM comparisons`;
  const byId = connection.prepare(`${from} WHERE comparison_id = ?`);
  const ofRound = connection.prepare(`${from} WHERE unit_id = ? AND round = ?`);
  const differing =
    connection.prepare(`${from} WHERE unit_id = ? AND round = ? AND verdict NOT IN ('agreed', 'not_comparable')
    ORDER BY verdict = 'undecided' DESC, unsafe DESC, told_wall_ms DESC, comparison_id LIMIT ?`);
  const beginning = connection.prepare(`SELECT comparison_id AS id FROM comparisons
    WHERE comparison_id >= ? AND comparison_id < ? AND verdict NOT IN ('agreed', 'not_comparable')
    ORDER BY comparison_id LIMIT ?`);

  const dropRounds = connection.prepare(`DELETE FROM comparisons WHERE unit_id = @unitId AND round <
    (SELECT max(round) FROM comparisons WHERE unit_id = @unitId AND round < @round)`);
  const dropAgreements = connection.prepare(`DELETE FROM comparisons WHERE comparison_id IN
    (SELECT comparison_id FROM comparisons WHERE unit_id = @unitId AND round = @round
      AND verdict IN ('agreed', 'not_comparable')
      ORDER BY compared_wall_ms DESC, comparison_id LIMIT -1 OFFSET ${keptAgreements})`);

  function put(comparison: Comparison): void {
    const columns = columnsOf({ ...comparison, unsafe: comparison.unsafe ? 1 : 0 });
    replace.run(...columns, rowDigest(...columns));
  }

  function find(comparisonId: string): Comparison | undefined {
    const row = byId.get(comparisonId);
    return row === undefined ? undefined : intact(row);
  }

  return {
    put,
    find,
    disagreements: ({ unitId, round }, limit) => differing.all(unitId, round, limitOf({ limit })).map(intact),
    triage({ comparisonId, verdict, by, wallMs, note }) {
      const found = find(comparisonId);
      if (found !== undefined) put({ ...found, verdict, triagedBy: by, triagedWallMs: wallMs, note });
    },
    trim({ unitId, round }) {
      dropRounds.run({ unitId, round });
      dropAgreements.run({ unitId, round });
    },
    counts({ unitId, round }) {
      const counts = new Map<string, ComparisonCount>();
      for (const row of ofRound.iterate(unitId, round)) {
        const { verdict, unsafe } = intact(row);
        const key = `${verdict} ${unsafe}`;
        counts.set(key, { verdict, unsafe, count: (counts.get(key)?.count ?? 0) + 1 });
      }
      return [...counts.values()];
    },
    idsStartingWith: (prefix, limit) =>
      (beginning.all(prefix, `${prefix}\u{10ffff}`, limitOf({ limit })) as { id: string }[]).map(({ id }) => id),
  };
}
