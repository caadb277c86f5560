/** Two systems, and what is known independently of both (PROMO-03). */
import { describe, expect, it } from 'vitest';
import {
  agreementOf,
  type DerivedFacts,
  derivedAt,
  judge,
  type RunOutcome,
  truthAt,
} from '../../actors/promotion/comparison.ts';

describe('a disagreement', () => {
  it.each<[RunOutcome, RunOutcome, RunOutcome | null, string, boolean]>([
    ['succeeded', 'succeeded', null, 'agreed', false],
    ['ended', 'failed', null, 'agreed', false],
    ['never_ran', 'ended', null, 'agreed', false],
    ['succeeded', 'failed', null, 'undecided', false],
    ['running', 'ended', null, 'undecided', false],
    ['ended', 'running', null, 'undecided', true],
    ['unknown', 'ended', null, 'not_comparable', false],
    ['ended', 'unknown', null, 'not_comparable', false],
    ['ended', 'running', 'running', 'ours_wrong', true],
    ['ended', 'running', 'succeeded', 'theirs_wrong', true],
    ['running', 'ended', 'running', 'theirs_wrong', false],
    ['running', 'failed', 'succeeded', 'ours_wrong', false],
    ['succeeded', 'succeeded', 'failed', 'ours_wrong', false],
    ['ended', 'unknown', 'running', 'ours_wrong', true],
    ['unknown', 'failed', 'succeeded', 'theirs_wrong', false],
    ['succeeded', 'failed', 'ended', 'undecided', false],
    ['ended', 'ended', 'running', 'ours_wrong', true],
  ])('ours %s, theirs %s, in truth %s: %s', (...[ours, theirs, truth, verdict, unsafe]) => {
    expect(judge({ ours, theirs, truth })).toEqual({ verdict, unsafe });
  });
});

describe('what was derived of the moment that somebody speaks of', () => {
  const over: DerivedFacts = { state: 'over', how: 'succeeded', endedMs: 100, aliveUntilMs: null };
  const running: DerivedFacts = { state: 'running', how: null, endedMs: null, aliveUntilMs: 100 };

  it.each<[string, DerivedFacts, RunOutcome, number, RunOutcome]>([
    ['it was still running then', over, 'running', 99, 'running'],
    ['it had ended by then', over, 'running', 100, 'succeeded'],
    ['when it ended is not known any more', { ...over, endedMs: null }, 'running', 99, 'unknown'],
    ['an end that was seen later is no contradiction', over, 'failed', 50, 'succeeded'],
    ['nobody says how it ended', { ...over, how: null }, 'ended', 200, 'ended'],
    ['it was seen alive afterwards', running, 'ended', 100, 'running'],
    ['nobody has looked since', running, 'ended', 101, 'unknown'],
    ['nobody has ever looked', { ...running, aliveUntilMs: null }, 'ended', 1, 'unknown'],
    ['both say that it runs', { ...running, aliveUntilMs: null }, 'running', 500, 'running'],
    ['nobody knows whether it began', { ...over, state: 'unresolved' }, 'ended', 1, 'unknown'],
    ['it never ran', { ...over, state: 'never_ran' }, 'running', 1, 'never_ran'],
  ])('%s', (...[, facts, outcome, atMs, ours]) => {
    expect(derivedAt(facts, { outcome, atMs })).toBe(ours);
  });
});

it('a verified fact says nothing of a moment that it does not reach', () => {
  const at = (outcome: RunOutcome, atMs: number) => ({ outcome, atMs });
  expect(truthAt(at('running', 100), at('ended', 99))).toBe('running');
  expect(truthAt(at('running', 100), at('ended', 101))).toBeUndefined();
  expect(truthAt(at('failed', 100), at('running', 99))).toBeUndefined();
  expect(truthAt(at('failed', 100), at('running', 100))).toBe('failed');
  expect(truthAt(at('failed', 100), at('succeeded', 50))).toBe('failed');
  expect(truthAt(at('unknown', 100), at('ended', 50))).toBeUndefined();
});

it('what nobody could compare counts as nothing', () => {
  const of = (verdict: Parameters<typeof agreementOf>[0][number]['verdict'], unsafe: boolean, count: number) => ({
    verdict,
    unsafe,
    count,
  });
  expect(
    agreementOf([
      of('agreed', false, 10),
      of('not_comparable', false, 7),
      of('ours_wrong', true, 1),
      of('theirs_wrong', false, 2),
      of('undecided', true, 3),
      of('undecided', false, 4),
    ]),
  ).toEqual({ compared: 20, agreed: 10, oursWrong: 1, theirsWrong: 2, undecidedUnsafe: 3, undecidedOther: 4 });
});
