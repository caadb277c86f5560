/**
 * Sums since the store has them, which only grow: what a scraper counts from must not shrink when rows are trimmed or a
 * process is killed (METR-01). Every change belongs into the transaction that writes what is summed.
 */
import type { Connection } from '../connection.ts';
import { rowDigest } from '../digest.ts';
import { damagedRow } from '../errors.ts';

export type TotalName =
  | 'commit_attempts'
  | 'commit_busy'
  | 'commits'
  | 'commit_us'
  | 'passes'
  | 'pass_us'
  | 'pass_reads'
  | 'unknowns'
  | 'contradictions'
  | 'recoveries'
  | 'recovery_us'
  /** How far the journal is accounted for, and how far it was searched for contradictions: positions. */
  | 'journal_position'
  | 'contradictions_position'
  /** How many bytes of the record of refusals were counted (refusals.ts). */
  | 'refusals_seen';

/**
 * To read a damaged row throws StoreError `store_corrupt`: a search that goes on too far ahead finds nothing, and a gate is
 * green. Adding to one leaves it damaged, so that what else its transaction holds is written.
 */
export interface TotalsTable {
  of(name: TotalName): number;
  byLabel(name: TotalName): ReadonlyMap<string, number>;
  add(name: TotalName, value: number, label?: string): void;
  set(name: TotalName, value: number): void;
}

const damaged = 'damaged';

interface Row {
  readonly label: string;
  readonly value: number;
  readonly digest: string;
}

export function createTotalsTable(connection: Connection): TotalsTable {
  const from = 'SELECT label, value, digest FROM totals WHERE name = ?';
  const one = connection.prepare(`${from} AND label = ?`);
  const byLabel = connection.prepare(`${from} ORDER BY label`);
  const put = connection.prepare('INSERT OR REPLACE INTO totals (name, label, value, digest) VALUES (?, ?, ?, ?)');

  const isIntact = (name: TotalName, { label, value, digest }: Row): boolean =>
    digest === rowDigest(name, label, value);

  function intact(name: TotalName, row: unknown): Row {
    const { label, value, digest } = row as Row;
    if (!isIntact(name, row as Row)) throw damagedRow(`total ${name} ${label}`.trim());
    return { label, value, digest };
  }

  function of(name: TotalName, label = ''): number {
    const row = one.get(name, label);
    return row === undefined ? 0 : intact(name, row).value;
  }

  const set = (name: TotalName, value: number, label = ''): void =>
    void put.run(name, label, value, rowDigest(name, label, value));

  return {
    of: (name) => of(name),
    byLabel: (name) =>
      new Map(
        byLabel
          .all(name)
          .map((row) => intact(name, row))
          .map(({ label, value }) => [label, value]),
      ),
    add(name, value, label = '') {
      if (value === 0) return;
      const known = one.get(name, label) as Row | undefined;
      // What it said is lost, and a change that makes up for the first one must not make it sound again.
      if (known !== undefined && !isIntact(name, known)) put.run(name, label, known.value, damaged);
      else set(name, (known?.value ?? 0) + Math.round(value), label);
    },
    set: (name, value) => set(name, value),
  };
}
