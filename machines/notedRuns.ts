/**
 * What a generation keeps of the runs that others launched there. Its record is written anew with each of them, so it may
 * not grow with their number: some that have not ended are named, the others are a count and a sum over their digests, and
 * those that have ended are only counted. Whoever is noted a second time is known by the id of the event (JRN-05), which is
 * never forgotten; and should one ever be counted twice, or settled without having been noted, then the sum is not zero
 * again when the count is, and the worktree stays protected (WT-04).
 */
import { sha256 } from './canonical.ts';
import type { Payload } from './events/catalogue.ts';

export interface NotedRun {
  readonly origin: Payload<'run.noted'>['origin'];
}

export interface NotedRuns {
  /** Those that have not ended, as far as they are named. */
  readonly noted: Readonly<Record<string, NotedRun>>;
  /** Those that have not ended and are not named: how many, and the sum of their digests modulo 2^256, in hexadecimal. */
  readonly notedBeyond: { readonly count: number; readonly sum: string };
  /** How many have ended in which way. */
  readonly notedSettled: Readonly<Record<Payload<'run.settled'>['terminal'], number>>;
}

export const namedAtMost = 32;

const zero = '0'.repeat(64);
const modulus = 1n << 256n;

export const nobodyNoted: NotedRuns = {
  noted: {},
  notedBeyond: { count: 0, sum: zero },
  notedSettled: { ended: 0, cancelled: 0 },
};

const digestOf = (runId: string): bigint => BigInt(`0x${sha256(runId)}`);

function moved({ count, sum }: NotedRuns['notedBeyond'], runId: string, by: 1 | -1): NotedRuns['notedBeyond'] {
  const digest = by === 1 ? digestOf(runId) : modulus - digestOf(runId);
  return { count: count + by, sum: ((BigInt(`0x${sum}`) + digest) % modulus).toString(16).padStart(64, '0') };
}

/** Each run once: the id of the event sees to that. */
export function withNoted(runs: NotedRuns, runId: string, origin: NotedRun['origin']): Partial<NotedRuns> {
  if (runs.noted[runId] !== undefined) return {};
  return Object.keys(runs.noted).length < namedAtMost
    ? { noted: { ...runs.noted, [runId]: { origin } } }
    : { notedBeyond: moved(runs.notedBeyond, runId, 1) };
}

export const mayBeNoted = ({ noted, notedBeyond }: NotedRuns, runId: string): boolean =>
  noted[runId] !== undefined || notedBeyond.count > 0;

export function withSettled(
  { noted, notedBeyond, notedSettled }: NotedRuns,
  runId: string,
  terminal: Payload<'run.settled'>['terminal'],
): Partial<NotedRuns> {
  const counted = { notedSettled: { ...notedSettled, [terminal]: notedSettled[terminal] + 1 } };
  if (noted[runId] === undefined) return { ...counted, notedBeyond: moved(notedBeyond, runId, -1) };
  const { [runId]: _, ...others } = noted;
  return { ...counted, noted: others };
}

/** How many have not ended and are not named; 1 at least while the sum does not add up. */
export const unnamedIn = ({ notedBeyond: { count, sum } }: NotedRuns): number =>
  sum === zero ? Math.abs(count) : Math.max(1, count);

export const activeIn = (runs: NotedRuns): number => Object.keys(runs.noted).length + unnamedIn(runs);

/** Whether anybody was ever noted. */
export const isAnyNoted = (runs: NotedRuns): boolean =>
  activeIn(runs) > 0 || Object.values(runs.notedSettled).some((count) => count > 0);

/** From the record of version 4, which named everybody for good. */
export function fromNamed(
  named: Readonly<Record<string, NotedRun & { readonly run: 'active' | 'ended' | 'cancelled' }>>,
): NotedRuns {
  let runs = nobodyNoted;
  for (const [runId, { origin, run }] of Object.entries(named)) {
    if (run === 'active') runs = { ...runs, ...withNoted(runs, runId, origin) };
    else runs = { ...runs, notedSettled: { ...runs.notedSettled, [run]: runs.notedSettled[run] + 1 } };
  }
  return runs;
}
