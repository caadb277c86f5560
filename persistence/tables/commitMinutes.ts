/** What commits cost in each minute in which there were any (METR-01): one row a minute, whoever wrote in it. Bounded. */
import { bucketUs, type CommitMinute } from '../commitMeter.ts';
import type { Connection } from '../connection.ts';
import { rowDigest } from '../digest.ts';
import { createTotalsTable } from './totals.ts';

export interface RecordedMinute extends CommitMinute {
  /** Rows that the journal got. */
  readonly journaled: number;
}

/** Whoever decides on them checks them all first (`damagedMeasurement`): one whose time is damaged would be of no window. */
export interface CommitMinutesTable {
  /** Adds to what is on record of that minute. */
  add(minute: RecordedMinute): void;
  /** `from` and `until` are minutes, both included. */
  between(from: number, until: number): readonly RecordedMinute[];
}

/** A week in which something is written every minute. */
export const keptMinutes = 10_080;

const damaged = 'damaged';

interface Row extends Omit<RecordedMinute, 'buckets'> {
  readonly buckets: string;
  readonly digest: string;
}

const digestOf = (row: Omit<Row, 'digest'>): string =>
  rowDigest(row.minute, row.attempts, row.busy, row.committed, row.longestUs, row.buckets, row.journaled);

const read = ({ digest: _, buckets, ...row }: Row): RecordedMinute => ({
  ...row,
  buckets: new Map(JSON.parse(buckets)),
});

export function createCommitMinutesTable(connection: Connection): CommitMinutesTable {
  const totals = createTotalsTable(connection);
  const columns = 'minute, attempts, busy, committed, longest_us AS longestUs, buckets, journaled, digest';
  const between = connection.prepare(
    `SELECT ${columns} FROM commit_minutes WHERE minute BETWEEN ? AND ? ORDER BY minute`,
  );
  const put = connection.prepare(`INSERT OR REPLACE INTO commit_minutes
    (minute, attempts, busy, committed, longest_us, buckets, journaled, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  // On both sides: minutes of a clock that was put back would stay for ever.
  const trim = connection.prepare('DELETE FROM commit_minutes WHERE minute <= ? OR minute >= ?');

  return {
    add(more) {
      const known = between.all(more.minute, more.minute) as Row[];
      const sound = known.filter(({ digest, ...row }) => digest === digestOf(row));
      const sum = merged([...sound.map(read), more]);
      const row = { ...sum, buckets: JSON.stringify([...sum.buckets]) };
      const { minute, attempts, busy, committed, longestUs, buckets, journaled } = row;
      // A damaged one stays damaged for as long as it is kept: what it said is lost, and nobody may decide as if it were not.
      const digest = sound.length < known.length ? damaged : digestOf(row);
      put.run(minute, attempts, busy, committed, longestUs, buckets, journaled, digest);
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
