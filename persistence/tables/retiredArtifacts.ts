/**
 * Whose files were removed after the proof that released them (RET-04). The row comes first: a removal that was interrupted
 * is gone on with, and nobody takes for lost what was removed on purpose.
 */
import type { Connection } from '../connection.ts';
import type { ActorAddress } from './actors.ts';

export interface RetiredArtifactsTable {
  /** Decides on it; does nothing where that was decided before. */
  decide(actorKey: number, wallMs: number): void;
  /** So much more is gone, and with `isDone` all of it. */
  count(actorKey: number, gone: { readonly bytes: number; readonly isDone: boolean }): void;
  /** Actors of a kind that are over and were not decided on, oldest first. */
  candidates(kind: string, after: number, limit: number): ReadonlyArray<ActorAddress & { readonly key: number }>;
  has(address: ActorAddress): boolean;
  /** Decided and not finished, oldest actor first. */
  open(limit: number): ReadonlyArray<ActorAddress & { readonly key: number }>;
}

export function createRetiredArtifactsTable(connection: Connection): RetiredArtifactsTable {
  const decide = connection.prepare(`INSERT INTO retired_artifacts (actor, wall_ms, removed, bytes) VALUES (?, ?, 0, 0)
    ON CONFLICT (actor) DO NOTHING`);
  const count = connection.prepare('UPDATE retired_artifacts SET removed = ?, bytes = bytes + ? WHERE actor = ?');
  const has = connection
    .prepare('SELECT 1 FROM retired_artifacts JOIN actors USING (actor) WHERE kind = ? AND id = ?')
    .pluck();
  const open =
    connection.prepare(`SELECT r.actor AS key, a.kind, a.id FROM retired_artifacts r JOIN actors a USING (actor)
    WHERE r.removed = 0 ORDER BY r.actor LIMIT ?`);
  const candidates = connection.prepare(`SELECT a.actor AS key, a.kind, a.id FROM actors a
    LEFT JOIN retired_artifacts r USING (actor) WHERE a.kind = ? AND a.settled = 1 AND a.released = 1
    AND r.actor IS NULL AND a.actor > ? ORDER BY a.actor LIMIT ?`);

  return {
    candidates: (kind, after, limit) => candidates.all(kind, after, limit) as Array<ActorAddress & { key: number }>,
    decide: (actorKey, wallMs) => void decide.run(actorKey, wallMs),
    count: (actorKey, { bytes, isDone }) => void count.run(isDone ? 1 : 0, bytes, actorKey),
    has: ({ kind, id }) => has.get(kind, id) !== undefined,
    open: (limit) => open.all(limit) as Array<ActorAddress & { key: number }>,
  };
}
