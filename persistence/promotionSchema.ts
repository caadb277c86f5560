/**
 * Schema version 8: how far each repository has come on its way to this program's control, and what that rests on
 * (PROMO-04, METR-02). Reports and changes stay for good, because control of worktrees cites them; each is made at the
 * word of a person.
 */
export const promotionSchema = `
CREATE TABLE promotions (
  unit_id TEXT PRIMARY KEY,
  common_git_dir TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  stage TEXT NOT NULL CHECK (stage IN ('tracking', 'comparing', 'canary', 'wide', 'sole')),
  version INTEGER NOT NULL CHECK (version >= 1)
) STRICT, WITHOUT ROWID;

CREATE TABLE promotion_changes (
  unit_id TEXT NOT NULL REFERENCES promotions (unit_id),
  version INTEGER NOT NULL CHECK (version >= 1),
  from_stage TEXT NOT NULL,
  to_stage TEXT NOT NULL,
  changed_by TEXT NOT NULL,
  wall_ms INTEGER NOT NULL,
  request_id TEXT NOT NULL UNIQUE,
  report_id TEXT,
  report_digest TEXT,
  PRIMARY KEY (unit_id, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE gate_reports (
  gate_report INTEGER PRIMARY KEY,
  report_id TEXT NOT NULL UNIQUE,
  unit_id TEXT NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('green', 'red', 'missing')),
  wall_ms INTEGER NOT NULL,
  report TEXT NOT NULL,
  digest TEXT NOT NULL
) STRICT;
CREATE INDEX gate_reports_of_unit ON gate_reports (unit_id);

CREATE TABLE budgets (
  name TEXT PRIMARY KEY,
  value REAL NOT NULL CHECK (value >= 0),
  origin TEXT NOT NULL CHECK (origin IN ('measured', 'by_hand')),
  wall_ms INTEGER NOT NULL,
  measured TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE acceptance_reports (
  acceptance_report INTEGER PRIMARY KEY,
  wall_ms INTEGER NOT NULL,
  report TEXT NOT NULL,
  digest TEXT NOT NULL
) STRICT;

CREATE TABLE comparisons (
  comparison_id TEXT PRIMARY KEY,
  unit_id TEXT NOT NULL,
  round INTEGER NOT NULL CHECK (round >= 1),
  run_id TEXT NOT NULL,
  ours TEXT NOT NULL,
  theirs TEXT NOT NULL,
  truth TEXT,
  truth_source TEXT CHECK (truth_source IN ('guardian_receipt', 'verified_file')),
  told_wall_ms INTEGER NOT NULL,
  compared_wall_ms INTEGER NOT NULL,
  verdict TEXT NOT NULL
    CHECK (verdict IN ('agreed', 'not_comparable', 'ours_wrong', 'theirs_wrong', 'undecided')),
  unsafe INTEGER NOT NULL CHECK (unsafe IN (0, 1)),
  triaged_by TEXT,
  triaged_wall_ms INTEGER,
  note TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX comparisons_of_unit ON comparisons (unit_id, round, verdict);
`;
