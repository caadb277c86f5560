/**
 * Schema version 2: what observing somebody else's launches needs besides actors. None of it is evidence: how far each
 * producer's notes were taken in, what was lost of them, when each process was last looked at, and what passes cost.
 */
export const observeSchema = `
CREATE TABLE producers (
  producer TEXT NOT NULL,
  stream TEXT NOT NULL,
  taken INTEGER NOT NULL CHECK (taken >= 0),
  lost INTEGER NOT NULL CHECK (lost >= 0),
  last_note_wall_ms INTEGER NOT NULL,
  PRIMARY KEY (producer, stream)
) STRICT, WITHOUT ROWID;

CREATE TABLE coverage_gaps (
  gap INTEGER PRIMARY KEY,
  gap_id TEXT NOT NULL UNIQUE,
  producer TEXT NOT NULL,
  kind TEXT NOT NULL,
  from_wall_ms INTEGER NOT NULL,
  to_wall_ms INTEGER NOT NULL,
  count INTEGER NOT NULL CHECK (count >= 1),
  boot_id TEXT NOT NULL,
  closed_by TEXT,
  closed_wall_ms INTEGER
) STRICT;
CREATE INDEX coverage_gaps_open ON coverage_gaps (gap) WHERE closed_by IS NULL;

CREATE TABLE freshness (
  actor INTEGER PRIMARY KEY REFERENCES actors (actor),
  result TEXT NOT NULL CHECK (result IN ('alive', 'ended', 'unknown')),
  reason TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  mono_ms INTEGER NOT NULL,
  wall_ms INTEGER NOT NULL,
  failures INTEGER NOT NULL CHECK (failures >= 0),
  retry_mono_ms INTEGER
) STRICT;

CREATE TABLE passes (
  pass INTEGER PRIMARY KEY,
  wall_ms INTEGER NOT NULL,
  elapsed_us INTEGER NOT NULL,
  reads INTEGER NOT NULL,
  looked_at INTEGER NOT NULL,
  deferred INTEGER NOT NULL,
  outcomes TEXT NOT NULL
) STRICT;
`;
