/** Nearest-rank percentiles: of n values in order, the one at position ⌈q·n⌉. */
import { bucketUs } from '../../persistence/commitMeter.ts';
import type { RecordedMinute } from '../../persistence/tables/commitMinutes.ts';
import type { Distribution } from './report.ts';

export const nothing: Distribution = { kind: 'distribution', count: 0, p50: null, p95: null, max: null };

export function distributionOf(values: readonly number[]): Distribution {
  if (values.length === 0) return nothing;
  const sorted = Float64Array.from(values).sort();
  const at = (q: number): number => sorted[rank(q, sorted.length) - 1] as number;
  return { kind: 'distribution', count: sorted.length, p50: at(0.5), p95: at(0.95), max: at(1) };
}

/** In milliseconds; percentiles are the ends of their buckets, and none is above the longest that there was. */
export function latencyOf({ committed, buckets, longestUs }: RecordedMinute): Distribution {
  if (committed === 0) return nothing;
  const at = (q: number): number => {
    let before = 0;
    for (const [bucket, count] of buckets) {
      before += count;
      if (before >= rank(q, committed)) return Math.min(bucketUs(bucket), longestUs) / 1_000;
    }
    return longestUs / 1_000;
  };
  return { kind: 'distribution', count: committed, p50: at(0.5), p95: at(0.95), max: longestUs / 1_000 };
}

const rank = (q: number, count: number): number => Math.max(1, Math.ceil(q * count));
