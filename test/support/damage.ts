/** A row that cannot be trusted any more. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { TestDaemon } from './daemon.ts';

/** The same of an entry of the journal, the oldest of its kind and type. Returns its position. */
export function damageEntry(
  stateDir: string,
  { kind, type }: { readonly kind: string; readonly type: string },
): number {
  const database = new Database(join(stateDir, 'custody.db'));
  const row = database
    .prepare(
      `UPDATE journal SET envelope = ' ' || envelope WHERE position = (SELECT min(position) FROM journal
       JOIN actors USING (actor) WHERE kind = ? AND type = ?) RETURNING position`,
    )
    .get(kind, type) as { readonly position: number };
  database.close();
  return row.position;
}

/** Changes a stored snapshot behind the back of its digest; it stays valid JSON with the same meaning. The daemon is not running. */
export function damageRow({ home }: TestDaemon, id: string): void {
  const database = new Database(join(home.stateDir, 'custody.db'));
  database.prepare(`UPDATE actors SET snapshot = ' ' || snapshot WHERE id = ?`).run(id);
  database.close();
}
