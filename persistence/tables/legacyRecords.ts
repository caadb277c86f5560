/** Records of other tools and what became of them, and the processes that they claim (persistence/legacySchema.ts). */
import type { Connection } from '../connection.ts';
import { limitOf, type Page } from '../paging.ts';

export interface LegacyName {
  readonly tool: string;
  readonly kind: 'worktree' | 'run' | 'binding';
  /** As the tool calls it; a binding is called by its run. */
  readonly name: string;
}

export interface LegacyRow extends LegacyName {
  /** Over everything that the record says. */
  readonly digest: string;
  readonly actorId: string;
  /** As the tool has it, for people. */
  readonly startedWallMs: number | null;
  readonly endedWallMs: number | null;
  readonly recordedWallMs: number;
}

export interface LegacyClaim {
  /** Row key, the cursor of lists. */
  readonly key: number;
  readonly runId: string;
  /** JSON of a process identity that nobody has verified. */
  readonly identity: string;
}

export interface LegacyRecordsTable {
  find(name: LegacyName): LegacyRow | undefined;
  /** The one that became this actor; of several the first by name. */
  ofActor(actorId: string): LegacyRow | undefined;
  /** A worktree that was made anew is another actor under the same name. */
  put(row: LegacyRow): void;
  /** Nothing where the run has claimed one before. */
  claim(runId: string, identity: string): void;
  openClaims(page?: Page): readonly LegacyClaim[];
  /** What came of looking for it; it is not looked for again. */
  settleClaim(key: number, outcome: string): void;
  countOpenClaims(): number;
}

export function createLegacyRecordsTable(connection: Connection): LegacyRecordsTable {
  const columns = `tool, kind, name, digest, actor_id AS actorId, started_wall_ms AS startedWallMs,
    ended_wall_ms AS endedWallMs, recorded_wall_ms AS recordedWallMs`;
  const find = connection.prepare(`SELECT ${columns} FROM legacy_records WHERE tool = ? AND kind = ? AND name = ?`);
  const ofActor = connection.prepare(
    `SELECT ${columns} FROM legacy_records WHERE actor_id = ? AND kind <> 'binding' ORDER BY tool, name LIMIT 1`,
  );
  const put = connection.prepare(`INSERT INTO legacy_records
    (tool, kind, name, digest, actor_id, started_wall_ms, ended_wall_ms, recorded_wall_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (tool, kind, name) DO UPDATE SET actor_id = excluded.actor_id`);
  const claim = connection.prepare('INSERT OR IGNORE INTO legacy_processes (run_id, identity) VALUES (?, ?)');
  const open = connection.prepare(
    'SELECT claim AS key, run_id AS runId, identity FROM legacy_processes WHERE outcome IS NULL AND claim > ? ORDER BY claim LIMIT ?',
  );
  const settle = connection.prepare('UPDATE legacy_processes SET outcome = ? WHERE claim = ? AND outcome IS NULL');
  const countOpen = connection.prepare('SELECT count(*) FROM legacy_processes WHERE outcome IS NULL').pluck();

  return {
    find: ({ tool, kind, name }) => find.get(tool, kind, name) as LegacyRow | undefined,
    ofActor: (actorId) => ofActor.get(actorId) as LegacyRow | undefined,
    put: (row) =>
      void put.run(
        ...[row.tool, row.kind, row.name, row.digest, row.actorId],
        ...[row.startedWallMs, row.endedWallMs, row.recordedWallMs],
      ),
    claim: (runId, identity) => void claim.run(runId, identity),
    openClaims: (page = {}) => open.all(page.after ?? 0, limitOf(page)) as LegacyClaim[],
    settleClaim: (key, outcome) => void settle.run(outcome, key),
    countOpenClaims: () => countOpen.get() as number,
  };
}
