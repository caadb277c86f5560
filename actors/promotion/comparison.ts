/**
 * What another system says became of a run, beside what was derived here and what is known independently of both
 * (PROMO-03). A disagreement by itself speaks against neither.
 */
import type { ComparisonCount, ComparisonVerdict } from '../../persistence/tables/comparisons.ts';

/** `ended`: it is over, and nobody says how. */
export const outcomes = ['running', 'succeeded', 'failed', 'ended', 'never_ran', 'unknown'] as const;
export type RunOutcome = (typeof outcomes)[number];

/** What somebody says of a run, and of which moment. */
export interface Told {
  readonly outcome: RunOutcome;
  /** Wall-clock milliseconds: two systems have no other clock in common. Nothing is proved by it. */
  readonly atMs: number;
}

/** What is known here of a run, as far as comparing needs it. */
export interface DerivedFacts {
  readonly state: 'unresolved' | 'running' | 'over' | 'never_ran';
  /** How it ended, where a status says so. */
  readonly how: 'succeeded' | 'failed' | null;
  /** When its end was recorded; null where nobody can tell. */
  readonly endedMs: number | null;
  /** Up to when it was seen alive; null where it was never looked at, Infinity where its guardian is there to say when. */
  readonly aliveUntilMs: number | null;
}

const over: ReadonlySet<RunOutcome> = new Set(['succeeded', 'failed', 'ended', 'never_ran']);
export const isOver = (outcome: RunOutcome): boolean => over.has(outcome);

/** "It is over" goes with every way in which it may be. */
export function compatible(one: RunOutcome, other: RunOutcome): boolean {
  if (one === other) return true;
  return isOver(one) && isOver(other) && (one === 'ended' || other === 'ended');
}

/** What was derived here of the moment that somebody speaks of. */
export function derivedAt(facts: DerivedFacts, { outcome, atMs }: Told): RunOutcome {
  if (facts.state === 'unresolved') return 'unknown';
  if (facts.state === 'never_ran') return 'never_ran';
  if (facts.state === 'running') {
    // Where it was not looked at since, it may have ended meanwhile.
    const isSeen = facts.aliveUntilMs !== null && facts.aliveUntilMs >= atMs;
    return outcome === 'running' || isSeen ? 'running' : 'unknown';
  }
  if (outcome === 'running') {
    if (facts.endedMs === null) return 'unknown';
    if (facts.endedMs > atMs) return 'running';
  }
  return facts.how ?? 'ended';
}

/** What a verified fact says of the moment that was told of; undefined where it says nothing of it. */
export function truthAt(verified: Told, told: Told): RunOutcome | undefined {
  if (verified.outcome === 'unknown') return undefined;
  if (verified.outcome === 'running') return verified.atMs >= told.atMs ? 'running' : undefined;
  return told.outcome === 'running' && told.atMs < verified.atMs ? undefined : verified.outcome;
}

export interface Sides {
  readonly ours: RunOutcome;
  readonly theirs: RunOutcome;
  readonly truth: RunOutcome | null;
}

export interface Judgement {
  readonly verdict: ComparisonVerdict;
  readonly unsafe: boolean;
}

export function judge({ ours, theirs, truth }: Sides): Judgement {
  const unsafe = isOver(ours) && (theirs === 'running' || truth === 'running');
  return { verdict: verdictOf({ ours, theirs, truth }), unsafe };
}

function verdictOf({ ours, theirs, truth }: Sides): ComparisonVerdict {
  if (truth !== null && ours !== 'unknown' && !compatible(ours, truth)) return 'ours_wrong';
  if (truth !== null && theirs !== 'unknown' && !compatible(theirs, truth)) return 'theirs_wrong';
  // Not to know is no statement, so nobody can be right or wrong with it.
  if (ours === 'unknown' || theirs === 'unknown') return 'not_comparable';
  return compatible(ours, theirs) ? 'agreed' : 'undecided';
}

export interface Agreement {
  readonly compared: number;
  readonly agreed: number;
  readonly oursWrong: number;
  readonly theirsWrong: number;
  readonly undecidedUnsafe: number;
  readonly undecidedOther: number;
}

export function agreementOf(counts: readonly ComparisonCount[]): Agreement {
  const sum = (matches: (one: ComparisonCount) => boolean): number =>
    counts.filter(matches).reduce((total, { count }) => total + count, 0);
  const of = (verdict: ComparisonVerdict) => sum((one) => one.verdict === verdict);
  return {
    compared: sum(({ verdict }) => verdict !== 'not_comparable'),
    agreed: of('agreed'),
    oursWrong: of('ours_wrong'),
    theirsWrong: of('theirs_wrong'),
    undecidedUnsafe: sum(({ verdict, unsafe }) => verdict === 'undecided' && unsafe),
    undecidedOther: sum(({ verdict, unsafe }) => verdict === 'undecided' && !unsafe),
  };
}
