/**
 * What any program has to pay for the rows that a host has written: the same rows, to the byte and in the same order, into
 * a copy of its store with the same settings, in one transaction of plain better-sqlite3 statements.
 */
import { join } from 'node:path';
import { type Connection, connect } from '../../persistence/connection.ts';
import type { Store } from '../../persistence/store.ts';

type Row = readonly unknown[];

/** The state of the tables before a batch. */
export interface Mark {
  readonly position: number;
  readonly lastActor: number;
}

export interface PlainRows {
  mark(): Mark;
  /** What has been written since, as a transaction that writes it again. Reading it is no part of the transaction. */
  since(mark: Mark): () => void;
  close(): void;
}

const insertInto = (connection: Connection, table: string, columns: number) =>
  connection.prepare(`INSERT INTO ${table} VALUES (${Array(columns).fill('?').join(', ')})`);

/** The copy is made here: everything that is there already is in both. */
export async function plainRows(store: Store, copyPath: string): Promise<PlainRows> {
  await store.backup(copyPath);
  const copy = connect(copyPath);
  const written = connect(join(store.stateDir, 'custody.db'));
  const select = (sql: string) => written.prepare(sql).raw();
  const events = select('SELECT * FROM journal WHERE position > ? ORDER BY position');
  const dedup = select('SELECT * FROM dedup WHERE position > ? ORDER BY position');
  const actor = select('SELECT * FROM actors WHERE actor = ?');
  const links = select('SELECT * FROM links WHERE actor = ? ORDER BY name');
  const definitions = select('SELECT * FROM definitions');
  const insertActor = insertInto(copy, 'actors', 9);
  const updateActor = copy.prepare('UPDATE actors SET version = ?, snapshot = ?, digest = ? WHERE actor = ?');
  const insertEvent = insertInto(copy, 'journal', 8);
  const insertDedup = insertInto(copy, 'dedup', 6);
  const insertLink = insertInto(copy, 'links', 4);
  const addDefinition = copy.prepare('INSERT OR IGNORE INTO definitions VALUES (?, ?, ?, ?)');
  const copied = new Set<string>();

  function since({ position, lastActor }: Mark): () => void {
    for (const row of definitions.all() as Row[]) addDefinition.run(...row);
    const added = events.all(position) as Row[];
    const known = dedup.all(position) as Row[];
    // The newest row of an actor that several events of the batch have changed stands for all of them.
    const actors = added.map((event) => actor.get(event[1]) as Row);
    const linked = [...new Set(added.map((event) => event[1]))].flatMap((key) => links.all(key) as Row[]);
    const fresh = linked.filter((row) => !copied.has(row.join('\0')));
    for (const row of fresh) copied.add(row.join('\0'));
    const inserted = new Set<unknown>();
    return () =>
      copy
        .transaction(() => {
          for (const [at, event] of added.entries()) {
            const row = actors[at]!;
            if (Number(row[0]) > lastActor && !inserted.has(row[0])) insertActor.run(...row);
            else updateActor.run(row[4], row[7], row[8], row[0]);
            inserted.add(row[0]);
            insertEvent.run(...event);
            insertDedup.run(...known[at]!);
          }
          for (const row of fresh) insertLink.run(...row);
        })
        .immediate();
  }

  return {
    mark: () => ({ position: store.journal.lastPosition(), lastActor: store.actors.lastKey() }),
    since,
    close() {
      copy.close();
      written.close();
    },
  };
}
