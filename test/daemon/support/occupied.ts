import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { TestDaemon } from '../../support/daemon.ts';

/** Another program writes into the database until it is let go: every write of the daemon fails as busy. */
export function occupied(daemon: TestDaemon): () => void {
  const other = new Database(join(daemon.home.stateDir, 'custody.db'));
  other.exec('BEGIN IMMEDIATE');
  return () => other.close();
}
