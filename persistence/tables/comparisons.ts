/** What the old system said of a run, what was derived here, and who was right, as far as that is known (PROMO-03). */
import type { Connection } from '../connection.ts';
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

export interface ComparisonsTable {
  /** Takes the place of an earlier one of the same id. */
  put(comparison: Comparison): void;
  find(comparisonId: string): Comparison | undefined;
  /** Ids of disagreements. */
  idsStartingWith(prefix: string, limit: number): readonly string[];
  /** Disagreements, those that are not decided first. */
  disagreements(of: ComparingRound, limit: number): readonly Comparison[];
  triage(triage: Triage): void;
  counts(of: ComparingRound): readonly ComparisonCount[];
}

export function createComparisonsTable(connection: Connection): ComparisonsTable {
  const put =
    connection.prepare(`INSERT OR REPLACE INTO comparisons (comparison_id, unit_id, round, run_id, ours, theirs, truth,
    truth_source, told_wall_ms, compared_wall_ms, verdict, unsafe, triaged_by, triaged_wall_ms, note)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const from = `SELECT comparison_id AS comparisonId, unit_id AS unitId, round, run_id AS runId, ours, theirs, truth,
    truth_source AS truthSource, told_wall_ms AS toldWallMs, compared_wall_ms AS comparedWallMs, verdict, unsafe,
    triaged_by AS triagedBy, triaged_wall_ms AS triagedWallMs, note FROM comparisons`;
  const byId = connection.prepare(`${from} WHERE comparison_id = ?`);
  const differing =
    connection.prepare(`${from} WHERE unit_id = ? AND round = ? AND verdict NOT IN ('agreed', 'not_comparable')
    ORDER BY verdict = 'undecided' DESC, unsafe DESC, told_wall_ms DESC, comparison_id LIMIT ?`);
  const beginning = connection.prepare(`SELECT comparison_id AS id FROM comparisons
    WHERE comparison_id >= ? AND comparison_id < ? AND verdict NOT IN ('agreed', 'not_comparable')
    ORDER BY comparison_id LIMIT ?`);
  const triage = connection.prepare(
    'UPDATE comparisons SET verdict = ?, triaged_by = ?, triaged_wall_ms = ?, note = ? WHERE comparison_id = ?',
  );
  const counts = connection.prepare(
    'SELECT verdict, unsafe, count(*) AS count FROM comparisons WHERE unit_id = ? AND round = ? GROUP BY verdict, unsafe',
  );
  const withFlag = <Row>(raw: unknown): Row => ({ ...(raw as Row), unsafe: (raw as { unsafe: number }).unsafe === 1 });

  return {
    put: (row) =>
      void put.run(
        ...[row.comparisonId, row.unitId, row.round, row.runId, row.ours, row.theirs, row.truth, row.truthSource],
        ...[row.toldWallMs, row.comparedWallMs, row.verdict, row.unsafe ? 1 : 0],
        ...[row.triagedBy, row.triagedWallMs, row.note],
      ),
    find(comparisonId) {
      const raw = byId.get(comparisonId);
      return raw === undefined ? undefined : withFlag<Comparison>(raw);
    },
    idsStartingWith: (prefix, limit) =>
      (beginning.all(prefix, `${prefix}\u{10ffff}`, limitOf({ limit })) as { id: string }[]).map(({ id }) => id),
    disagreements: ({ unitId, round }, limit) =>
      differing.all(unitId, round, limitOf({ limit })).map((raw) => withFlag<Comparison>(raw)),
    triage: ({ comparisonId, verdict, by, wallMs, note }) => void triage.run(verdict, by, wallMs, note, comparisonId),
    counts: ({ unitId, round }) => counts.all(unitId, round).map((raw) => withFlag<ComparisonCount>(raw)),
  };
}
