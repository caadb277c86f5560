/**
 * Short write transactions (CONC-01). They are synchronous from BEGIN to COMMIT, so nothing else of this process can run
 * inside one; what could be *called* inside one by mistake (a spawn, a git command, a socket write) asks
 * `assertNoTransaction` first (CONC-02).
 */
import type { CommitMeter } from './commitMeter.ts';
import type { Connection } from './connection.ts';
import { mappingStoreErrors } from './errors.ts';

export interface Transactions {
  /**
   * Runs `work` between BEGIN IMMEDIATE and COMMIT. When anything throws, COMMIT included, everything is rolled back.
   * Store failures come out as StoreError. `work` must not be async: its later parts would run after the COMMIT.
   */
  write<T>(work: () => T): T;
  /** As `write`, for what was measured: it is counted nowhere, or it would ask for another one. */
  writeUncounted<T>(work: () => T): T;
  /** Runs `work` in a savepoint of the open transaction; when it throws, only its own writes are undone. */
  savepoint<T>(work: () => T): T;
}

const openTransactions = new Set<object>();

/** Throws when this process has a write transaction open. `port` names the caller in the message, e.g. `git`. */
export function assertNoTransaction(port: string): void {
  if (openTransactions.size > 0) throw new Error(`${port} was entered while a write transaction was open`);
}

export function createTransactions(connection: Connection, meter: CommitMeter): Transactions {
  const statement = (sql: string) => {
    const prepared = connection.prepare(sql);
    return () => void prepared.run();
  };
  const begin = beginning(connection, statement('BEGIN IMMEDIATE'));
  const commit = statement('COMMIT');
  const rollback = statement('ROLLBACK');
  const open = statement('SAVEPOINT call');
  const release = statement('RELEASE call');
  const undo = statement('ROLLBACK TO call');

  function transact<T>(work: () => T, waits: () => void): T {
    assertNoTransaction('a write transaction');
    begin(waits);
    openTransactions.add(connection);
    try {
      const result = synchronous(work);
      commit();
      return result;
    } catch (thrown) {
      // SQLite has rolled back by itself after some errors (full, I/O); asking again would hide the first cause.
      if (connection.inTransaction) attempt(rollback);
      throw thrown;
    } finally {
      openTransactions.delete(connection);
    }
  }

  function write<T>(work: () => T): T {
    const fromMs = performance.now();
    let wasBusy = false;
    let us: number | undefined;
    try {
      const result = transact(work, () => {
        wasBusy = true;
      });
      us = (performance.now() - fromMs) * 1_000;
      return result;
    } finally {
      meter.attempted(wasBusy, us);
    }
  }

  function savepoint<T>(work: () => T): T {
    open();
    try {
      const result = synchronous(work);
      release();
      return result;
    } catch (thrown) {
      if (connection.inTransaction) {
        undo();
        release();
      }
      throw thrown;
    }
  }

  return {
    write: (work) => mappingStoreErrors(() => write(work)),
    writeUncounted: (work) => mappingStoreErrors(() => transact(work, () => {})),
    savepoint: (work) => mappingStoreErrors(() => savepoint(work)),
  };
}

/**
 * SQLite waits for a lock without a word. So the first try waits for nobody, and only after it was refused the bounded
 * wait of this connection begins (CONC-01): who had to wait is known, and who had not pays nothing for it (METR-01).
 * Readers of a database in WAL mode wait for nobody.
 */
function beginning(connection: Connection, begin: () => void): (waits: () => void) => void {
  const busyMs = connection.pragma('busy_timeout', { simple: true }) as number;
  const waitAtMost = (ms: number): void => void connection.pragma(`busy_timeout = ${ms}`);
  waitAtMost(0);
  return (waits) => {
    try {
      begin();
    } catch (thrown) {
      if (!isBusy(thrown)) throw thrown;
      waits();
      waitAtMost(busyMs);
      try {
        begin();
      } finally {
        waitAtMost(0);
      }
    }
  };
}

const isBusy = (thrown: unknown): boolean =>
  String((thrown as { readonly code?: unknown } | null)?.code).startsWith('SQLITE_BUSY');

function synchronous<T>(work: () => T): T {
  const result = work();
  if (typeof (result as { then?: unknown } | null | undefined)?.then === 'function') {
    throw new TypeError('asynchronous work inside a transaction would go on after its COMMIT');
  }
  return result;
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // The transaction has failed already; its own error is the one to report.
  }
}
