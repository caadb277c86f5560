/**
 * What commits cost, kept in memory by the minute until somebody writes it down: a transaction never holds its own
 * measurement. Latencies are counted in buckets that are 5 % wide, so a minute has some hundred numbers at most.
 */
export interface CommitMinute {
  /** Minutes since 1970, of the wall clock. */
  readonly minute: number;
  /** Write transactions that were tried, whatever became of them. */
  readonly attempts: number;
  /** Of these, how many found the lock of the database held at first. */
  readonly busy: number;
  readonly committed: number;
  readonly longestUs: number;
  /** How many commits took at most `bucketUs` of the bucket and more than that of the one before. */
  readonly buckets: ReadonlyMap<number, number>;
}

const ratio = 1.05;
const perRatio = 1 / Math.log(ratio);

/** The smallest bucket that a duration fits into; everything up to 1 µs is in bucket 0. */
export const bucketOf = (us: number): number => (us <= 1 ? 0 : Math.ceil(Math.log(us) * perRatio - 1e-9));

/** The longest duration of a bucket. */
export const bucketUs = (bucket: number): number => ratio ** bucket;

export const minuteMs = 60_000;
export const minuteOf = (wallMs: number): number => Math.floor(wallMs / minuteMs);

/** A store that takes nothing for hours must not fill the memory: the oldest minutes go first. */
const minutesAtMost = 120;

interface Open {
  attempts: number;
  busy: number;
  committed: number;
  longestUs: number;
  readonly buckets: Map<number, number>;
}

export class CommitMeter {
  readonly #wallMs: () => number;
  readonly #minutes = new Map<number, Open>();

  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
  }

  /** A write transaction is over: `us` is how long it took, and undefined when nothing of it was committed. */
  attempted(wasBusy: boolean, us: number | undefined): void {
    const open = this.#open(minuteOf(this.#wallMs()));
    open.attempts += 1;
    if (wasBusy) open.busy += 1;
    if (us === undefined) return;
    const bucket = bucketOf(us);
    open.committed += 1;
    open.longestUs = Math.max(open.longestUs, Math.ceil(us));
    open.buckets.set(bucket, (open.buckets.get(bucket) ?? 0) + 1);
  }

  /** What has not been written down yet. */
  pending(): readonly CommitMinute[] {
    return [...this.#minutes].map(([minute, open]) => ({ minute, ...open }));
  }

  /** `pending` is written down. Nothing can have come in between: both are called without leaving this turn. */
  written(): void {
    this.#minutes.clear();
  }

  #open(minute: number): Open {
    const known = this.#minutes.get(minute);
    if (known !== undefined) return known;
    const made: Open = { attempts: 0, busy: 0, committed: 0, longestUs: 0, buckets: new Map() };
    this.#minutes.set(minute, made);
    if (this.#minutes.size > minutesAtMost) this.#minutes.delete(this.#minutes.keys().next().value as number);
    return made;
  }
}
