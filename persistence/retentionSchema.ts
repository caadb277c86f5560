/**
 * Schema version 4: what a checkpoint has to know that neither a snapshot nor a journal row says by itself (RET-02, RET-04).
 * Actors that had ended before have no row in `endings`, and keep their whole history.
 */
export const retentionSchema = `
CREATE TABLE endings (
  actor INTEGER PRIMARY KEY REFERENCES actors (actor),
  position INTEGER NOT NULL
) STRICT;

CREATE TABLE retentions (
  retention INTEGER PRIMARY KEY,
  wall_ms INTEGER NOT NULL,
  what TEXT NOT NULL CHECK (what IN ('checkpoint', 'event_ids', 'artifacts')),
  position INTEGER NOT NULL,
  report TEXT NOT NULL
) STRICT;

CREATE TABLE retired_artifacts (
  actor INTEGER PRIMARY KEY REFERENCES actors (actor),
  wall_ms INTEGER NOT NULL,
  removed INTEGER NOT NULL CHECK (removed IN (0, 1)),
  bytes INTEGER NOT NULL
) STRICT;
CREATE INDEX retired_artifacts_open ON retired_artifacts (actor) WHERE removed = 0;
`;
