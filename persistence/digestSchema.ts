/**
 * Schema version 5: digests beside the rows that are read back to decide something, and were without one (ruling 27): how
 * far notes were taken in, what was lost, when to look again, and the facts about the installation. `row_digest` is
 * rowDigest of digest.ts.
 */
export const digestSchema = `
ALTER TABLE meta ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE meta SET digest = row_digest(name, value);
ALTER TABLE producers ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE producers SET digest = row_digest(producer, stream, taken, lost, last_note_wall_ms);
ALTER TABLE coverage_gaps ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE coverage_gaps SET digest =
  row_digest(gap_id, producer, kind, from_wall_ms, to_wall_ms, count, boot_id, closed_by, closed_wall_ms);
ALTER TABLE freshness ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE freshness SET digest =
  row_digest(actor, result, reason, boot_id, mono_ms, wall_ms, failures, retry_mono_ms);
ALTER TABLE passes ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE passes SET digest = row_digest(wall_ms, elapsed_us, reads, looked_at, deferred, outcomes);
`;

/** From this version on the store also keeps a digest of its schema: a changed word in it reads other columns than were written. */
export const digestsSince = 5;

export interface DigestedTable {
  readonly table:
    | 'meta'
    | 'producers'
    | 'coverage_gaps'
    | 'freshness'
    | 'passes'
    | 'promotions'
    | 'promotion_changes'
    | 'gate_reports'
    | 'budgets'
    | 'acceptance_reports'
    | 'comparisons'
    | 'commit_minutes'
    | 'recoveries'
    | 'contradictions'
    | 'totals';
  /** What names a row in a report, as an expression of SQL. */
  readonly name: string;
  /** In the order of the digest. */
  readonly columns: readonly string[];
}

/** What the full check goes through, besides the tables whose rows are checked as they are read. */
export const digestedTables: readonly DigestedTable[] = [
  { table: 'meta', name: 'name', columns: ['name', 'value'] },
  { table: 'producers', name: 'stream', columns: ['producer', 'stream', 'taken', 'lost', 'last_note_wall_ms'] },
  {
    table: 'coverage_gaps',
    name: 'gap',
    columns: [
      'gap_id',
      'producer',
      'kind',
      'from_wall_ms',
      'to_wall_ms',
      'count',
      'boot_id',
      'closed_by',
      'closed_wall_ms',
    ],
  },
  {
    table: 'freshness',
    name: 'actor',
    columns: ['actor', 'result', 'reason', 'boot_id', 'mono_ms', 'wall_ms', 'failures', 'retry_mono_ms'],
  },
  {
    table: 'passes',
    name: 'pass',
    columns: ['wall_ms', 'elapsed_us', 'reads', 'looked_at', 'deferred', 'outcomes'],
  },
  { table: 'promotions', name: 'unit_id', columns: ['unit_id', 'common_git_dir', 'path', 'stage', 'version'] },
  {
    table: 'promotion_changes',
    name: "unit_id || ' ' || version",
    columns: [
      'unit_id',
      'version',
      'from_stage',
      'to_stage',
      'changed_by',
      'wall_ms',
      'request_id',
      'report_id',
      'report_digest',
    ],
  },
  { table: 'gate_reports', name: 'report_id', columns: ['report_id', 'unit_id', 'verdict', 'wall_ms', 'report'] },
  {
    table: 'commit_minutes',
    name: 'minute',
    columns: ['minute', 'attempts', 'busy', 'committed', 'longest_us', 'buckets', 'journaled'],
  },
  { table: 'recoveries', name: 'recovery', columns: ['wall_ms', 'who', 'elapsed_us'] },
  { table: 'contradictions', name: 'contradiction', columns: ['prediction', 'wall_ms', 'evidence'] },
  { table: 'totals', name: "name || ' ' || label", columns: ['name', 'label', 'value'] },
  { table: 'budgets', name: 'name', columns: ['name', 'value', 'origin', 'wall_ms', 'measured'] },
  { table: 'acceptance_reports', name: 'acceptance_report', columns: ['wall_ms', 'report'] },
  {
    table: 'comparisons',
    name: 'comparison_id',
    columns: [
      'comparison_id',
      'unit_id',
      'round',
      'run_id',
      'ours',
      'theirs',
      'truth',
      'truth_source',
      'told_wall_ms',
      'compared_wall_ms',
      'verdict',
      'unsafe',
      'triaged_by',
      'triaged_wall_ms',
      'note',
    ],
  },
];
