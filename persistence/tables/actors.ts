/**
 * One row per durable actor: its newest snapshot, the state of record (JRN-02). Updates are conditional on the version
 * that the change was computed from (JRN-06), and every row carries a digest over all of it.
 */
import type { Connection } from '../connection.ts';
import { CorruptRowError } from '../corruptRow.ts';
import { rowDigest } from '../digest.ts';
import { direction, limitOf, type Page } from '../paging.ts';
import { type Prepare, statementCache } from '../statements.ts';

export interface ActorAddress {
  readonly kind: string;
  readonly id: string;
}

/** Everything about an actor except what it is in. */
export interface ActorSummary extends ActorAddress {
  /** Row key: grows with creation, never reused; the cursor of lists. */
  readonly key: number;
  readonly version: number;
  readonly settled: boolean;
  readonly released: boolean;
}

export interface ActorRow extends ActorSummary {
  readonly definitionVersion: number;
  readonly structuralHash: string;
  /** JSON text of XState's persisted snapshot. */
  readonly snapshot: string;
}

/** What changes rarely, and is indexed or refers to another table. */
export type ActorTraits = Pick<ActorRow, 'definitionVersion' | 'structuralHash' | 'settled' | 'released'>;

/** A version of a chart, as rows name it. */
export type Chart = Pick<ActorRow, 'kind' | 'definitionVersion' | 'structuralHash'>;

export interface ActorKeys {
  /** Greater than every key there is. */
  readonly actor: number;
  readonly definition: number;
}

export interface ActorFilter extends Page {
  readonly settled?: boolean;
  readonly released?: boolean;
}

export interface ActorsTable {
  /** Throws CorruptRowError when the digest does not match. */
  read(address: ActorAddress): ActorRow | undefined;
  /** As `read`, for many of a kind in one statement and without an error: `intact` tells whether the digest matches. */
  readMany(kind: string, ids: readonly string[]): ReadonlyArray<ActorRow & { readonly intact: boolean }>;
  /** The row as it is, for the full check: `intact` tells whether its digest matches. */
  inspect(after: number, limit: number): ReadonlyArray<ActorRow & { readonly intact: boolean }>;
  keyOf(address: ActorAddress): number | undefined;
  /** Row key → id. */
  idsOf(keys: readonly number[]): ReadonlyArray<readonly [key: number, id: string]>;
  /** The newest key; 0 while there is no actor. */
  lastKey(): number;
  /** The row of a version of a chart; made where there is none. */
  definitionKey(chart: Chart): number;
  /**
   * Answers with the row's key, or undefined where the actor exists. `keys` are those that the caller knows already, in
   * this very transaction; whatever it does not give is asked for.
   */
  insert(row: Omit<ActorRow, 'key'>, keys?: ActorKeys): number | undefined;
  /**
   * Replaces the row of `row.key` if it is still at version `row.version - 1`; false when it is not. `before` says what
   * the row holds; where definition and flags stay, their indexes are left alone.
   */
  update(row: ActorRow, before?: ActorTraits): boolean;
  list(kind: string, filter?: ActorFilter): readonly ActorSummary[];
  count(kind: string, filter?: Pick<ActorFilter, 'settled' | 'released'>): number;
  /** Ids of a kind that begin with `prefix`, in order: what a person may type instead of the whole id. */
  idsStartingWith(kind: string, prefix: string, limit: number): readonly string[];
}

interface RawRow {
  key: number;
  kind: string;
  id: string;
  definitionVersion: number;
  structuralHash: string;
  version: number;
  settled: number;
  released: number;
  snapshot: string;
  digest: string;
}

const columns = `a.actor AS key, a.kind, a.id, d.version AS definitionVersion, d.structural_hash AS structuralHash,
  a.version, a.settled, a.released, a.snapshot, a.digest`;

const digestOf = (row: ActorRow): string =>
  rowDigest(
    row.key,
    row.kind,
    row.id,
    row.definitionVersion,
    row.structuralHash,
    row.version,
    row.settled ? 1 : 0,
    row.released ? 1 : 0,
    row.snapshot,
  );

function rowOf(raw: RawRow): ActorRow & { intact: boolean } {
  const { digest, ...rest } = raw;
  const row: ActorRow = { ...rest, settled: raw.settled === 1, released: raw.released === 1 };
  return { ...row, intact: digestOf(row) === digest };
}

export function createActorsTable(connection: Connection): ActorsTable {
  const prepare = statementCache(connection);
  const from = `SELECT ${columns} FROM actors a JOIN definitions d USING (definition)`;
  const read = prepare(`${from} WHERE a.kind = ? AND a.id = ?`);
  const readMany = prepare(`SELECT ${columns} FROM json_each(?) wanted CROSS JOIN actors a
    ON a.kind = ? AND a.id = wanted.value JOIN definitions d USING (definition)`);
  const inspect = prepare(`${from} WHERE a.actor > ? ORDER BY a.actor LIMIT ?`);
  const keyOf = prepare('SELECT actor FROM actors WHERE kind = ? AND id = ?').pluck();
  const idsOf = prepare('SELECT actor, id FROM actors WHERE actor IN (SELECT value FROM json_each(?))').raw();
  const lastKey = prepare('SELECT coalesce(max(actor), 0) FROM actors').pluck();
  const findDefinition = prepare(
    'SELECT definition FROM definitions WHERE kind = ? AND version = ? AND structural_hash = ?',
  ).pluck();
  const addDefinition = prepare('INSERT INTO definitions (kind, version, structural_hash) VALUES (?, ?, ?)');
  const startingWith = prepare(
    'SELECT id FROM actors WHERE kind = ? AND id >= ? AND id < ? ORDER BY id LIMIT ?',
  ).pluck();
  const insert = prepare(`INSERT INTO actors (actor, kind, id, definition, version, settled, released, snapshot, digest)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kind, id) DO NOTHING`);
  const update =
    prepare(`UPDATE actors SET definition = ?, version = ?, settled = ?, released = ?, snapshot = ?, digest = ?
    WHERE actor = ? AND version = ?`);
  const advance = prepare('UPDATE actors SET version = ?, snapshot = ?, digest = ? WHERE actor = ? AND version = ?');

  function definitionKey({ kind, definitionVersion, structuralHash }: Chart): number {
    const found = findDefinition.get(kind, definitionVersion, structuralHash) as number | undefined;
    return found ?? Number(addDefinition.run(kind, definitionVersion, structuralHash).lastInsertRowid);
  }

  return {
    // U+10FFFF sorts behind everything that an id may hold, and the unique index serves the range.
    idsStartingWith: (kind, prefix, limit) => startingWith.all(kind, prefix, `${prefix}\u{10ffff}`, limit) as string[],
    read({ kind, id }) {
      const raw = read.get(kind, id) as RawRow | undefined;
      if (raw === undefined) return undefined;
      const { intact, ...row } = rowOf(raw);
      if (!intact) throw new CorruptRowError(`${kind} ${id}`);
      return row;
    },
    readMany: (kind, ids) => (readMany.all(JSON.stringify(ids), kind) as RawRow[]).map(rowOf),
    inspect: (after, limit) => (inspect.all(after, limit) as RawRow[]).map(rowOf),
    keyOf: ({ kind, id }) => keyOf.get(kind, id) as number | undefined,
    idsOf: (keys) => idsOf.all(JSON.stringify(keys)) as Array<[number, string]>,
    lastKey: () => lastKey.get() as number,
    definitionKey,
    insert(row, keys) {
      const { actor: key, definition } = keys ?? {
        actor: (lastKey.get() as number) + 1,
        definition: definitionKey(row),
      };
      const { kind, id, version, settled, released, snapshot } = row;
      const digest = digestOf({ ...row, key });
      const flags = [settled ? 1 : 0, released ? 1 : 0];
      const { changes } = insert.run(key, kind, id, definition, version, ...flags, snapshot, digest);
      return changes === 1 ? key : undefined;
    },
    update(row, before) {
      const digest = digestOf(row);
      const { key, version, snapshot } = row;
      if (before !== undefined && hasSameTraits(row, before)) {
        return advance.run(version, snapshot, digest, key, version - 1).changes === 1;
      }
      const [settled, released] = [row.settled ? 1 : 0, row.released ? 1 : 0];
      const result = update.run(definitionKey(row), version, settled, released, snapshot, digest, key, version - 1);
      return result.changes === 1;
    },
    list: (kind, filter = {}) => list(prepare, kind, filter),
    count: (kind, filter = {}) => count(prepare, kind, filter),
  };
}

function count(prepare: Prepare, kind: string, filter: Pick<ActorFilter, 'settled' | 'released'>): number {
  const counting = prepare(`SELECT count(*) FROM actors WHERE kind = ?${conditions(filter)}`);
  return counting.pluck().get(kind) as number;
}

const hasSameTraits = (a: ActorTraits, b: ActorTraits): boolean =>
  a.settled === b.settled &&
  a.released === b.released &&
  a.definitionVersion === b.definitionVersion &&
  a.structuralHash === b.structuralHash;

function list(prepare: Prepare, kind: string, filter: ActorFilter): readonly ActorSummary[] {
  const { compare, order, after } = direction(filter);
  const sql = `SELECT ${summaryColumns} FROM actors a
    WHERE kind = ?${conditions(filter)} AND actor ${compare} ? ORDER BY actor ${order} LIMIT ?`;
  return summaries(kind, prepare(sql).raw().all(kind, after, limitOf(filter)));
}

/** Of `actors a`, for `summaries`. */
export const summaryColumns = 'a.actor, a.id, a.version, a.settled, a.released';

/** Out of rows without names of columns: whole lists are read again and again, and an object for each row costs the most. */
export const summaries = (kind: string, rows: readonly unknown[]): ActorSummary[] =>
  (rows as ReadonlyArray<[number, string, number, number, number]>).map(([key, id, version, settled, released]) => ({
    key,
    kind,
    id,
    version,
    settled: settled === 1,
    released: released === 1,
  }));

/** Constants in the text, not parameters: only then may SQLite use the partial indexes. */
function conditions({ settled, released }: Pick<ActorFilter, 'settled' | 'released'>): string {
  const flag = (name: string, value: boolean | undefined) =>
    value === undefined ? '' : ` AND ${name} = ${value ? 1 : 0}`;
  return flag('released', released) + flag('settled', settled);
}
