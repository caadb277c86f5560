/**
 * Schema version 9: digests beside the rows that promotion is decided on (ruling 27): stages and their changes, budgets, and
 * who was right in a comparison. `row_digest` is rowDigest of digest.ts.
 */
export const promotionDigestSchema = `
ALTER TABLE promotions ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE promotions SET digest = row_digest(unit_id, common_git_dir, path, stage, version);
ALTER TABLE promotion_changes ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE promotion_changes SET digest =
  row_digest(unit_id, version, from_stage, to_stage, changed_by, wall_ms, request_id, report_id, report_digest);
ALTER TABLE budgets ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE budgets SET digest = row_digest(name, value, origin, wall_ms, measured);
ALTER TABLE comparisons ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE comparisons SET digest = row_digest(comparison_id, unit_id, round, run_id, ours, theirs, truth, truth_source,
  told_wall_ms, compared_wall_ms, verdict, unsafe, triaged_by, triaged_wall_ms, note);
`;
