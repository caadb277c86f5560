/**
 * One long statement in a thread of its own, on a read-only connection of its own, so that whoever owns the store goes on
 * meanwhile: a check reads every page, a copy writes them all. The thread shares this process's SQLite, which knows that
 * the file is still in use and keeps its locks when the second connection is closed (ruling 17).
 */
import module from 'node:module';
import { Worker } from 'node:worker_threads';
import { type Connection, defaultBusyMs } from './connection.ts';
import { storeErrorOf } from './errors.ts';

/** Text and not a module, because a bundle has no second file to start. */
const source = `
const { parentPort, workerData } = require('node:worker_threads');
const { driver, file, timeout, sql, values } = workerData;
try {
  const connection = new (require(driver))(file, { readonly: true, fileMustExist: true, timeout });
  try {
    const statement = connection.prepare(sql);
    parentPort.postMessage({ rows: statement.reader ? statement.all(...values) : [statement.run(...values)] });
  } finally {
    connection.close();
  }
} catch ({ code, message }) {
  parentPort.postMessage({ code, message });
}
`;

type Reply = { readonly rows: unknown[] } | { readonly code: string | undefined; readonly message: string };

/** Rejects with StoreError where the store is to blame. */
export function aside<Row>(connection: Connection, sql: string, ...values: readonly string[]): Promise<Row[]> {
  const driver = module.createRequire(import.meta.url).resolve('better-sqlite3');
  const workerData = { driver, file: connection.name, timeout: defaultBusyMs, sql, values };
  return new Promise((resolve, reject) => {
    const refuse = (thrown: unknown) => reject(storeErrorOf(thrown) ?? thrown);
    // Options of this process, such as a loader, are not for a thread that needs nothing but the driver.
    const thread = new Worker(source, { eval: true, execArgv: [], workerData });
    thread.once('message', (reply: Reply) => {
      if ('rows' in reply) resolve(reply.rows as Row[]);
      else refuse(Object.assign(new Error(reply.message), { code: reply.code }));
    });
    thread.once('error', refuse);
    thread.once('exit', (status) => reject(new Error(`the thread for a long statement ended with ${status}`)));
  });
}
