/**
 * Schema version 6: what is measured and stands nowhere else (METR-01): commits by the minute, how long recoveries took,
 * predictions that later evidence contradicts, and sums since the store has this schema. Passes, gaps and the journal have
 * their own tables. Version 10 gives them digests, because a gate is decided on them.
 */
export const metricsSchema = `
CREATE TABLE commit_minutes (
  minute INTEGER PRIMARY KEY,
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  busy INTEGER NOT NULL CHECK (busy >= 0),
  committed INTEGER NOT NULL CHECK (committed >= 0),
  longest_us INTEGER NOT NULL CHECK (longest_us >= 0),
  buckets TEXT NOT NULL,
  journaled INTEGER NOT NULL CHECK (journaled >= 0)
) STRICT;

CREATE TABLE recoveries (
  recovery INTEGER PRIMARY KEY,
  wall_ms INTEGER NOT NULL,
  who TEXT NOT NULL CHECK (who IN ('daemon', 'observer')),
  elapsed_us INTEGER NOT NULL
) STRICT;
CREATE INDEX recoveries_by_time ON recoveries (wall_ms);

CREATE TABLE contradictions (
  contradiction INTEGER PRIMARY KEY,
  prediction TEXT NOT NULL UNIQUE,
  wall_ms INTEGER NOT NULL,
  evidence TEXT NOT NULL
) STRICT;
CREATE INDEX contradictions_by_time ON contradictions (wall_ms);

CREATE TABLE totals (
  name TEXT NOT NULL,
  label TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (name, label)
) STRICT, WITHOUT ROWID;

CREATE INDEX passes_by_time ON passes (wall_ms);

INSERT INTO totals SELECT 'journal_position', '', coalesce(max(position), 0) FROM journal;
INSERT INTO totals SELECT 'contradictions_position', '', coalesce(max(position), 0) FROM journal;
INSERT INTO totals SELECT 'passes', '', count(*) FROM passes WHERE looked_at > 0;
INSERT INTO totals SELECT 'pass_us', '', coalesce(sum(elapsed_us), 0) FROM passes WHERE looked_at > 0;
INSERT INTO totals SELECT 'pass_reads', '', coalesce(sum(reads), 0) FROM passes WHERE looked_at > 0;
INSERT INTO totals SELECT 'unknowns', substr(each.key, length('unknown:') + 1), sum(each.value)
  FROM passes, json_each(passes.outcomes) AS each WHERE each.key LIKE 'unknown:%' GROUP BY each.key;
`;
