/** Prepares each distinct text once; queries with optional conditions are a handful of texts. */
import type Database from 'better-sqlite3';
import type { Connection } from './connection.ts';

export type Prepare = (sql: string) => Database.Statement<unknown[]>;

export function statementCache(connection: Connection): Prepare {
  const prepared = new Map<string, Database.Statement<unknown[]>>();
  return (sql) => {
    let statement = prepared.get(sql);
    if (statement === undefined) {
      statement = connection.prepare<unknown[]>(sql);
      prepared.set(sql, statement);
    }
    return statement;
  };
}
