import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { type Migration, migrations } from '../../persistence/migrations.ts';
import { openStore } from '../../persistence/store.ts';
import { tickingClock } from './support/clock.ts';
import { addActor } from './support/rows.ts';
import { newStore } from './support/temporaryStore.ts';

const shipped = migrations.map(({ version, name }) => [version, name]);
const newest = migrations.at(-1)?.version ?? 0;
const next: Migration = {
  version: newest + 1,
  name: 'notes',
  sql: 'CREATE TABLE notes (note TEXT NOT NULL) STRICT',
};
const openWith = (stateDir: string, known: readonly Migration[]) =>
  openStore({ stateDir, clock: tickingClock(), create: false, faults: { migrations: known } });

function versions(stateDir: string): unknown {
  const look = new Database(join(stateDir, 'custody.db'), { readonly: true });
  try {
    return {
      header: look.pragma('user_version', { simple: true }),
      steps: look.prepare('SELECT version, name FROM migrations ORDER BY version').raw().all(),
      tables: look.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'notes'").pluck().get(),
    };
  } finally {
    look.close();
  }
}

describe('JRN-06: versioned migrations', () => {
  it('brings an older store up once, and keeps what is in it', () => {
    const store = newStore();
    addActor(store, 'R1');
    store.close();
    const { stateDir } = store;
    for (const _ of [1, 2]) {
      const migrated = openWith(stateDir, [...migrations, next]);
      expect(migrated.actors.read({ kind: 'run', id: 'R1' })).toBeDefined();
      migrated.close();
    }
    expect(versions(stateDir)).toEqual({
      header: newest + 1,
      steps: [...shipped, [newest + 1, 'notes']],
      tables: 1,
    });
  });

  it.each([1, 4])('brings a store of version %i up to today, and gives its rows their digests', async (version) => {
    const store = newStore();
    addActor(store, 'R1');
    store.write(() => store.meta.set('test.fact', 'kept'));
    store.close();
    const { stateDir } = store;
    const old = new Database(join(stateDir, 'custody.db'));
    const later = migrations.filter((step) => step.version > version).map(({ sql }) => sql);
    for (const sql of later) {
      for (const [, index] of sql.matchAll(/CREATE INDEX (\w+)/g)) old.exec(`DROP INDEX ${index}`);
      for (const [, table, column] of sql.matchAll(/ALTER TABLE (\w+) ADD COLUMN (\w+)/g))
        old.exec(`ALTER TABLE ${table} DROP COLUMN ${column}`);
    }
    for (const sql of later) {
      for (const [, table] of sql.matchAll(/CREATE TABLE (\w+)/g)) old.exec(`DROP TABLE ${table}`);
    }
    old.exec(`DELETE FROM migrations WHERE version > ${version}; DELETE FROM meta WHERE name = 'store.schema'`);
    old.pragma(`user_version = ${version}`);
    old.close();
    const today = openWith(stateDir, migrations);
    expect(today.actors.read({ kind: 'run', id: 'R1' })).toBeDefined();
    expect(today.meta.get('test.fact')).toBe('kept');
    expect(today.coverageGaps.count()).toEqual({ recorded: 0, open: 0 });
    expect(await today.check()).toMatchObject({ ok: true });
    today.close();
    expect(versions(stateDir)).toMatchObject({ header: newest, steps: shipped });
  });

  it.each([
    ['fails half way', 'CREATE TABLE notes (note TEXT) STRICT; CREATE TABLE actors (again TEXT)', 'already exists'],
    [
      'would leave dangling references',
      'CREATE TABLE notes (actor INTEGER REFERENCES actors (actor)) STRICT; PRAGMA defer_foreign_keys = ON; INSERT INTO notes VALUES (99)',
      'dangling references',
    ],
  ])('undoes a step that %s, with its record', (_, sql, message) => {
    const store = newStore();
    addActor(store, 'R1');
    store.close();
    const { stateDir } = store;
    expect(() => openWith(stateDir, [...migrations, { ...next, sql }])).toThrow(message);
    expect(versions(stateDir)).toEqual({ header: newest, steps: shipped, tables: 0 });
    openWith(stateDir, migrations).close();
  });
});
