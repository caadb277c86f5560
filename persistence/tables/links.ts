/** Which actors name which others (`goalId`, `generationId`, …): answers "runs of this Goal" without reading snapshots. */
import type { Connection } from '../connection.ts';
import { direction, limitOf } from '../paging.ts';
import { statementCache } from '../statements.ts';
import { type ActorFilter, type ActorSummary, summaries, summaryColumns } from './actors.ts';

export interface Link {
  readonly kind: string;
  readonly name: string;
  readonly value: string;
}

export interface LinksTable {
  add(link: Link, actorKey: number): void;
  remove(link: Link, actorKey: number): void;
  /** Name → value of the stored links of one actor. */
  of(actorKey: number): Readonly<Record<string, string>>;
  /** Value → id of an actor of that kind that carries it, for links of which there is one each; others are left out. */
  idsOf(link: Omit<Link, 'value'>, values: readonly string[]): ReadonlyMap<string, string>;
  /** Value → ids of all actors of that kind that carry it; a value that nobody carries is left out. */
  carriersOf(link: Omit<Link, 'value'>, values: readonly string[]): ReadonlyMap<string, readonly string[]>;
  /** Row keys behind `after` of the actors that carry it, in order: for whoever knows most of them already. */
  keysOf(link: Link, after: number, limit: number): readonly number[];
  /** Actors of `link.kind` that carry the link, paged by row key. */
  find(link: Link, filter?: ActorFilter): readonly ActorSummary[];
}

export function createLinksTable(connection: Connection): LinksTable {
  const prepare = statementCache(connection);
  const add = prepare('INSERT INTO links (kind, name, value, actor) VALUES (?, ?, ?, ?)');
  const remove = prepare('DELETE FROM links WHERE kind = ? AND name = ? AND value = ? AND actor = ?');
  const of = prepare('SELECT name, value FROM links WHERE actor = ?');
  const keysOf = prepare(
    'SELECT actor FROM links WHERE kind = ? AND name = ? AND value = ? AND actor > ? ORDER BY actor LIMIT ?',
  ).pluck();
  const idsOf = prepare(`SELECT l.value, a.id FROM json_each(?) v CROSS JOIN links l
    ON l.kind = ? AND l.name = ? AND l.value = v.value JOIN actors a USING (actor)`);

  return {
    add: ({ kind, name, value }, actorKey) => void add.run(kind, name, value, actorKey),
    remove: ({ kind, name, value }, actorKey) => void remove.run(kind, name, value, actorKey),
    of: (actorKey) => Object.fromEntries(of.raw().all(actorKey) as Array<[string, string]>),
    idsOf: ({ kind, name }, values) =>
      new Map(idsOf.raw().all(JSON.stringify(values), kind, name) as Array<[string, string]>),
    carriersOf({ kind, name }, values) {
      const carriers = new Map<string, string[]>();
      for (const [value, id] of idsOf.raw().all(JSON.stringify(values), kind, name) as Array<[string, string]>) {
        carriers.set(value, [...(carriers.get(value) ?? []), id]);
      }
      return carriers;
    },
    keysOf: ({ kind, name, value }, after, limit) => keysOf.all(kind, name, value, after, limit) as number[],
    find({ kind, name, value }, filter = {}) {
      const { compare, order, after } = direction(filter);
      const flags = (['settled', 'released'] as const)
        .filter((flag) => filter[flag] !== undefined)
        .map((flag) => ` AND a.${flag} = ${filter[flag] ? 1 : 0}`);
      const sql = `SELECT ${summaryColumns}
        FROM links l CROSS JOIN actors a USING (actor) WHERE l.kind = ? AND l.name = ? AND l.value = ?${flags.join('')}
        AND l.actor ${compare} ? ORDER BY l.actor ${order} LIMIT ?`;
      return summaries(kind, prepare(sql).raw().all(kind, name, value, after, limitOf(filter)));
    },
  };
}
