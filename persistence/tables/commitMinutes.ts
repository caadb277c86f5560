/** What commits cost in each minute in which there were any (METR-01): one row a minute, whoever wrote in it. Bounded. */
import { bucketUs, type CommitMinute } from '../commitMeter.ts';
import type { Connection } from '../connection.ts';
import { createTotalsTable } from './totals.ts';

export interface RecordedMinute extends CommitMinute {
  /** Rows that the journal got. */
  readonly journaled: number;
}

export interface CommitMinutesTable {
  /** Adds to what is on record of that minute. */
  add(minute: RecordedMinute): void;
  /** `from` and `until` are minutes, both included. */
  between(from: number, until: number): readonly RecordedMinute[];
}

/** A week in which something is written every minute. */
export const keptMinutes = 10_080;

interface Row extends Omit<RecordedMinute, 'buckets'> {
  readonly buckets: string;
}

const read = ({ buckets, ...row }: Row): RecordedMinute => ({ ...row, buckets: new Map(JSON.parse(buckets)) });

export function createCommitMinutesTable(connection: Connection): CommitMinutesTable {
  const totals = createTotalsTable(connection);
  const columns = 'minute, attempts, busy, committed, longest_us AS longestUs, buckets, journaled';
  const between = connection.prepare(
    `SELECT ${columns} FROM commit_minutes WHERE minute BETWEEN ? AND ? ORDER BY minute`,
  );
  const put = connection.prepare(`INSERT OR REPLACE INTO commit_minutes
    (minute, attempts, busy, committed, longest_us, buckets, journaled) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  // On both sides: minutes of a clock that was put back would stay for ever.
  const trim = connection.prepare('DELETE FROM commit_minutes WHERE minute <= ? OR minute >= ?');

  return {
    add(more) {
      const known = (between.all(more.minute, more.minute) as Row[]).map(read);
      const { minute, attempts, busy, committed, longestUs, buckets, journaled } = merged([...known, more]);
      put.run(minute, attempts, busy, committed, longestUs, JSON.stringify([...buckets]), journaled);
      trim.run(minute - keptMinutes, minute + keptMinutes);
      totals.add('commit_attempts', more.attempts);
      totals.add('commit_busy', more.busy);
      totals.add('commits', more.committed);
      totals.add('commit_us', totalUs(more));
    },
    between: (from, until) => (between.all(from, until) as Row[]).map(read),
  };
}

/** Several minutes as one; the minute is that of the last one. */
export function merged(minutes: readonly RecordedMinute[]): RecordedMinute {
  const sum = { minute: 0, attempts: 0, busy: 0, committed: 0, longestUs: 0, journaled: 0 };
  const buckets = new Map<number, number>();
  for (const one of minutes) {
    sum.minute = one.minute;
    sum.attempts += one.attempts;
    sum.busy += one.busy;
    sum.committed += one.committed;
    sum.journaled += one.journaled;
    sum.longestUs = Math.max(sum.longestUs, one.longestUs);
    for (const [bucket, count] of one.buckets) buckets.set(bucket, (buckets.get(bucket) ?? 0) + count);
  }
  return { ...sum, buckets: new Map([...buckets].sort(([one], [other]) => one - other)) };
}

/** As exact as the buckets are: up to 5 % too much. */
const totalUs = ({ buckets }: CommitMinute): number =>
  [...buckets].reduce((sum, [bucket, count]) => sum + count * bucketUs(bucket), 0);
