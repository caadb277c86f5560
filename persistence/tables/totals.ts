/**
 * Sums since the store has them, which only grow: what a scraper counts from must not shrink when rows are trimmed or a
 * process is killed (METR-01). Every change belongs into the transaction that writes what is summed.
 */
import type { Connection } from '../connection.ts';

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

export interface TotalsTable {
  of(name: TotalName): number;
  byLabel(name: TotalName): ReadonlyMap<string, number>;
  add(name: TotalName, value: number, label?: string): void;
  set(name: TotalName, value: number): void;
}

export function createTotalsTable(connection: Connection): TotalsTable {
  const of = connection.prepare("SELECT value FROM totals WHERE name = ? AND label = ''").pluck();
  const byLabel = connection.prepare('SELECT label, value FROM totals WHERE name = ? ORDER BY label');
  const upsert =
    'INSERT INTO totals (name, label, value) VALUES (?, ?, ?) ON CONFLICT (name, label) DO UPDATE SET value';
  const add = connection.prepare(`${upsert} = value + excluded.value`);
  const set = connection.prepare(`${upsert} = excluded.value`);

  return {
    of: (name) => (of.get(name) as number | undefined) ?? 0,
    byLabel: (name) =>
      new Map((byLabel.all(name) as { label: string; value: number }[]).map(({ label, value }) => [label, value])),
    add: (name, value, label = '') => void (value !== 0 && add.run(name, label, Math.round(value))),
    set: (name, value) => void set.run(name, '', value),
  };
}
