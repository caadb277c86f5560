/** A row that cannot be trusted any more. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { TestDaemon } from './daemon.ts';

/** Changes a stored snapshot behind the back of its digest; it stays valid JSON with the same meaning. The daemon is not running. */
export function damageRow({ home }: TestDaemon, id: string): void {
  const database = new Database(join(home.stateDir, 'custody.db'));
  database.prepare(`UPDATE actors SET snapshot = ' ' || snapshot WHERE id = ?`).run(id);
  database.close();
}
