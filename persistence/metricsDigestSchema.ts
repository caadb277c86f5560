/**
 * Schema version 10: digests beside the measurements that a gate is decided on (ruling 27, PROMO-04): a bit that turns in one
 * of them could make a gate green. `row_digest` is rowDigest of digest.ts. How many gaps there are of each producer and state
 * is counted from rows that are read one by one, and needs none.
 */
export const metricsDigestSchema = `
ALTER TABLE commit_minutes ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE commit_minutes SET digest = row_digest(minute, attempts, busy, committed, longest_us, buckets, journaled);
ALTER TABLE recoveries ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE recoveries SET digest = row_digest(wall_ms, who, elapsed_us);
ALTER TABLE contradictions ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE contradictions SET digest = row_digest(prediction, wall_ms, evidence);
ALTER TABLE totals ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE totals SET digest = row_digest(name, label, value);
`;
