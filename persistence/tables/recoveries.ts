/** How long it took to be well again after a start (METR-01): the newest ones, bounded in number. */
import type { Connection } from '../connection.ts';
import { rowDigest } from '../digest.ts';
import { createTotalsTable } from './totals.ts';

export interface Recovery {
  readonly wallMs: number;
  readonly who: 'daemon' | 'observer';
  readonly elapsedUs: number;
}

/** Whoever decides on them checks them all first (`damagedMeasurement`): one whose time is damaged would be of no window. */
export interface RecoveriesTable {
  add(recovery: Recovery): void;
  /** Of a window of wall time, both ends included. */
  between(fromMs: number, untilMs: number): readonly Recovery[];
}

const kept = 10_000;

export function createRecoveriesTable(connection: Connection): RecoveriesTable {
  const totals = createTotalsTable(connection);
  const add = connection.prepare('INSERT INTO recoveries (wall_ms, who, elapsed_us, digest) VALUES (?, ?, ?, ?)');
  const trim = connection.prepare('DELETE FROM recoveries WHERE recovery <= ?');
  const between = connection.prepare(`SELECT wall_ms AS wallMs, who, elapsed_us AS elapsedUs FROM recoveries
    WHERE wall_ms BETWEEN ? AND ? ORDER BY recovery`);

  return {
    add({ wallMs, who, elapsedUs }) {
      const { lastInsertRowid } = add.run(wallMs, who, elapsedUs, rowDigest(wallMs, who, elapsedUs));
      trim.run(Number(lastInsertRowid) - kept);
      totals.add('recoveries', 1);
      totals.add('recovery_us', elapsedUs);
    },
    between: (fromMs, untilMs) => between.all(fromMs, untilMs) as Recovery[],
  };
}
