/**
 * Schema version 1. Actors have integer keys because every other table refers to them; snapshots are the state of
 * record, the journal is evidence, and deduplication is a table of its own so that it outlives the journal (JRN-02,
 * RET-03). Partial indexes keep the cost of "what is still open" independent of everything that has ended.
 */
export const firstSchema = `
CREATE TABLE migrations (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  applied_wall_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE definitions (
  definition INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  version INTEGER NOT NULL CHECK (version >= 1),
  structural_hash TEXT NOT NULL,
  UNIQUE (kind, version, structural_hash)
) STRICT;

CREATE TABLE actors (
  actor INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  definition INTEGER NOT NULL REFERENCES definitions (definition),
  version INTEGER NOT NULL CHECK (version >= 1),
  settled INTEGER NOT NULL CHECK (settled IN (0, 1)),
  released INTEGER NOT NULL CHECK (released IN (0, 1)),
  snapshot TEXT NOT NULL,
  digest TEXT NOT NULL,
  UNIQUE (kind, id)
) STRICT;
CREATE INDEX actors_of_kind ON actors (kind);
CREATE INDEX actors_unsettled ON actors (kind) WHERE settled = 0;
CREATE INDEX actors_unreleased ON actors (kind) WHERE released = 0;

CREATE TABLE journal (
  position INTEGER PRIMARY KEY,
  actor INTEGER NOT NULL REFERENCES actors (actor),
  event_id TEXT NOT NULL,
  type TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('changed', 'noop')),
  version INTEGER NOT NULL,
  envelope TEXT NOT NULL,
  digest TEXT NOT NULL
) STRICT;
CREATE INDEX journal_of_actor ON journal (actor);
CREATE INDEX journal_of_type ON journal (type);

CREATE TABLE dedup (
  event_id TEXT NOT NULL,
  actor INTEGER NOT NULL REFERENCES actors (actor),
  payload_digest TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('changed', 'noop')),
  version INTEGER NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (event_id, actor)
) STRICT, WITHOUT ROWID;

CREATE TABLE links (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  actor INTEGER NOT NULL REFERENCES actors (actor),
  PRIMARY KEY (kind, name, value, actor)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_of_actor ON links (actor);

CREATE TABLE outbox (
  position INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  effect_id TEXT NOT NULL UNIQUE,
  actor INTEGER NOT NULL REFERENCES actors (actor),
  type TEXT NOT NULL,
  policy TEXT NOT NULL CHECK (policy IN ('once', 'repeatable')),
  params TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  start_number INTEGER NOT NULL,
  digest TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'attempted', 'done', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  PRIMARY KEY (position, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_open ON outbox (position, ordinal) WHERE state IN ('pending', 'attempted');

CREATE TABLE bindings (
  run INTEGER PRIMARY KEY REFERENCES actors (actor),
  generation INTEGER NOT NULL REFERENCES actors (actor),
  epoch INTEGER NOT NULL CHECK (epoch >= 1),
  event_id TEXT NOT NULL,
  UNIQUE (generation, epoch)
) STRICT;
CREATE TRIGGER binding_never_changes BEFORE UPDATE ON bindings
BEGIN SELECT RAISE(ABORT, 'binding_never_changes'); END;
CREATE TRIGGER binding_epoch_increases BEFORE INSERT ON bindings
WHEN NEW.epoch <= (SELECT max(epoch) FROM bindings WHERE generation = NEW.generation)
BEGIN SELECT RAISE(ABORT, 'binding_epoch_increases'); END;

CREATE TABLE repositories (
  repo_id TEXT PRIMARY KEY,
  path TEXT NOT NULL,
  common_git_dir TEXT NOT NULL UNIQUE,
  added_wall_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE rejections (
  rejection INTEGER PRIMARY KEY,
  wall_ms INTEGER NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  type TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('rejected', 'ignored_terminal')),
  reason TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;

CREATE TABLE contracts (
  contract TEXT PRIMARY KEY,
  kernel TEXT NOT NULL,
  guardian_digest TEXT NOT NULL,
  battery_version INTEGER NOT NULL,
  report_ref TEXT NOT NULL,
  verified_wall_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE deadlines (
  deadline_id TEXT PRIMARY KEY,
  actor_kind TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  purpose TEXT NOT NULL,
  boot_id TEXT NOT NULL,
  mono_ms INTEGER NOT NULL,
  basis TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX deadlines_due ON deadlines (boot_id, mono_ms);

CREATE TABLE self_checks (
  self_check INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  wall_ms INTEGER NOT NULL,
  passed INTEGER NOT NULL CHECK (passed IN (0, 1)),
  report TEXT NOT NULL
) STRICT;
CREATE INDEX self_checks_of_name ON self_checks (name);
`;
