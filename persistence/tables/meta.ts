/**
 * Single facts about the installation, and what services must remember across restarts: the admission pause, cursors
 * (ruling 5). Names are dotted, the first part says whose they are: `store.…` belongs to persistence itself.
 */
import type { Connection } from '../connection.ts';
import { rowDigest } from '../digest.ts';
import { damagedRow } from '../errors.ts';

export interface MetaTable {
  /** Throws StoreError `store_corrupt` when the row is damaged. */
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  remove(name: string): void;
}

export function createMetaTable(connection: Connection): MetaTable {
  const get = connection.prepare('SELECT value, digest FROM meta WHERE name = ?');
  const set = connection.prepare(`INSERT INTO meta (name, value, digest) VALUES (?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, digest = excluded.digest`);
  const remove = connection.prepare('DELETE FROM meta WHERE name = ?');

  return {
    get(name) {
      const row = get.get(name) as { value: string; digest: string } | undefined;
      if (row !== undefined && row.digest !== rowDigest(name, row.value)) throw damagedRow(`fact ${name}`);
      return row?.value;
    },
    set: (name, value) => void set.run(name, value, rowDigest(name, value)),
    remove: (name) => void remove.run(name),
  };
}
