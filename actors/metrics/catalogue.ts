/** Every series that there is (METR-01): what it is called, in which unit it is, and what it says. docs/metrics.md has more. */
import type { Unit } from './report.ts';

export interface Described {
  readonly unit: Unit;
  readonly description: string;
}

export const catalogue = {
  pass_duration: { unit: 'milliseconds', description: 'How long a pass over recorded processes took.' },
  pass_reads: { unit: 'reads', description: 'Reads of procfs in a pass.' },
  commit_latency: { unit: 'milliseconds', description: 'From the wish for the lock to the end of COMMIT.' },
  commit_busy_ratio: { unit: 'ratio', description: 'Attempts to write that met a lock of somebody else.' },
  oldest_unapplied_event_age: { unit: 'seconds', description: 'Age of the oldest note that nobody has taken in.' },
  unknowns: { unit: 'count', description: 'Looks at processes that could not tell, by reason.' },
  coverage_gaps: { unit: 'count', description: 'Windows in which notes were lost, by producer, open and closed.' },
  predictions_would_be_unsafe: {
    unit: 'count',
    description: 'Predictions of "reclaimable" that evidence which came later speaks against.',
  },
  recovery_time: { unit: 'milliseconds', description: 'From the start of a process to its first whole pass.' },
  journal_rows: { unit: 'rows', description: 'Rows of the journal.' },
  journal_bytes: {
    unit: 'bytes',
    description: 'Content of the journal; estimated from 256 rows where there are more.',
  },
  journal_growth: { unit: 'rows', description: 'Rows that the journal got.' },
  database_bytes: { unit: 'bytes', description: 'The store and its write-ahead log.' },
  spool_bytes: { unit: 'bytes', description: 'Files in the spool.' },
} as const satisfies Readonly<Record<string, Described>>;

export type SeriesName = keyof typeof catalogue;
