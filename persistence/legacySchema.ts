/**
 * Schema version 7: what other tools had on record (INT-07): which record became which actor, so that the same one is known
 * again and another one under its name is told apart; and the processes that records claim, until somebody has looked for
 * them. Neither is evidence of anything.
 */
export const legacySchema = `
CREATE TABLE legacy_records (
  tool TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('worktree', 'run', 'binding')),
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  started_wall_ms INTEGER,
  ended_wall_ms INTEGER,
  recorded_wall_ms INTEGER NOT NULL,
  PRIMARY KEY (tool, kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX legacy_records_actor ON legacy_records (actor_id);

CREATE TABLE legacy_processes (
  claim INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE,
  identity TEXT NOT NULL,
  outcome TEXT
) STRICT;
CREATE INDEX legacy_processes_open ON legacy_processes (claim) WHERE outcome IS NULL;
`;
