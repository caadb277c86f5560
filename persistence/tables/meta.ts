/**
 * Single facts about the installation, and what services must remember across restarts: the admission pause, cursors
 * (ruling 5). Names are dotted, the first part says whose they are: `store.…` belongs to persistence itself.
 */
import type { Connection } from '../connection.ts';

export interface MetaTable {
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  remove(name: string): void;
}

export function createMetaTable(connection: Connection): MetaTable {
  const get = connection.prepare('SELECT value FROM meta WHERE name = ?').pluck();
  const set = connection.prepare(
    'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  const remove = connection.prepare('DELETE FROM meta WHERE name = ?');

  return {
    get: (name) => get.get(name) as string | undefined,
    set: (name, value) => void set.run(name, value),
    remove: (name) => void remove.run(name),
  };
}
