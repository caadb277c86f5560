/** Predictions of "reclaimable" that evidence which came later speaks against (METR-01): each once, the newest ones. */
import type { Connection } from '../connection.ts';
import { rowDigest } from '../digest.ts';
import { createTotalsTable } from './totals.ts';

export interface Contradiction {
  /** Event id of the prediction. */
  readonly prediction: string;
  /** When the evidence arrived. */
  readonly wallMs: number;
  /** Event id of the evidence. */
  readonly evidence: string;
}

/** Whoever decides on them checks them all first (`damagedMeasurement`): one whose time is damaged would be of no window. */
export interface ContradictionsTable {
  /** What is on record already stays as it is. */
  record(contradiction: Contradiction): void;
  /** Of a window of wall time, both ends included. */
  count(fromMs: number, untilMs: number): number;
}

const kept = 10_000;

export function createContradictionsTable(connection: Connection): ContradictionsTable {
  const totals = createTotalsTable(connection);
  const record = connection.prepare(
    'INSERT OR IGNORE INTO contradictions (prediction, wall_ms, evidence, digest) VALUES (?, ?, ?, ?)',
  );
  const trim = connection.prepare('DELETE FROM contradictions WHERE contradiction <= ?');
  const count = connection.prepare('SELECT count(*) FROM contradictions WHERE wall_ms BETWEEN ? AND ?').pluck();

  return {
    record({ prediction, wallMs, evidence }) {
      const { changes, lastInsertRowid } = record.run(
        prediction,
        wallMs,
        evidence,
        rowDigest(prediction, wallMs, evidence),
      );
      if (changes === 0) return;
      trim.run(Number(lastInsertRowid) - kept);
      totals.add('contradictions', 1);
    },
    count: (fromMs, untilMs) => count.get(fromMs, untilMs) as number,
  };
}
