/** What a failing disk does to a row, done beside whoever has the store. */
import { join } from 'node:path';
import Database from 'better-sqlite3';

export function tamper({ stateDir }: { readonly stateDir: string }, sql: string): void {
  const file = new Database(join(stateDir, 'custody.db'));
  file.exec(sql);
  file.close();
}
