/** WT-04, I-22: who was noted and has not ended stands in the way, however many there are and in whatever order they end. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  activeIn,
  fromNamed,
  isAnyNoted,
  type NotedRuns,
  namedAtMost,
  nobodyNoted,
  withNoted,
  withSettled,
} from '../../machines/notedRuns.ts';
import { migrationBlockersOf } from '../../machines/worktreeGeneration.ts';
import { ended, newGeneration, noted, tell } from './support/generationStory.ts';

const note = (runs: NotedRuns, runId: string): NotedRuns => ({ ...runs, ...withNoted(runs, runId, 'observed') });
const settle = (runs: NotedRuns, runId: string): NotedRuns => ({ ...runs, ...withSettled(runs, runId, 'ended') });

const names = Array.from({ length: 3 * namedAtMost }, (_, at) => `R${at}`);
/** Everybody once; the figure says after how many of those that come later it ends, if ever. */
const lives = fc.array(fc.option(fc.nat({ max: names.length }), { freq: 8 }), {
  minLength: names.length,
  maxLength: names.length,
});

/** In the order of what happens: noted first, then, at its time, over. */
function* story(ends: readonly (number | null)[]): Generator<readonly ['note' | 'settle', string]> {
  const due = new Map<number, string[]>();
  for (const [at, name] of names.entries()) {
    yield ['note', name];
    const end = ends[at];
    if (end !== null && end !== undefined) due.set(at + end, [...(due.get(at + end) ?? []), name]);
    for (const over of due.get(at) ?? []) yield ['settle', over];
    due.delete(at);
  }
  for (const [, over] of [...due].sort(([one], [other]) => one - other))
    for (const name of over) yield ['settle', name];
}

describe('the record of the runs that others launched', () => {
  it('says at any moment how many have not ended, and does not grow with their number', () => {
    fc.assert(
      fc.property(lives, (ends) => {
        let runs: NotedRuns = nobodyNoted;
        const active = new Set<string>();
        for (const [what, name] of story(ends)) {
          runs = what === 'note' ? note(runs, name) : settle(runs, name);
          if (what === 'note') active.add(name);
          else active.delete(name);
          expect(activeIn(runs)).toBe(active.size);
          expect(Object.keys(runs.noted).every((named) => active.has(named))).toBe(true);
          expect(JSON.stringify(runs).length).toBeLessThan(2_000);
        }
        const over = ends.filter((end) => end !== null).length;
        expect(runs.notedSettled).toEqual({ ended: over, cancelled: 0 });
        expect(isAnyNoted(runs)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('protects for good what does not add up: counted twice, or settled without having been noted', () => {
    const full = names.slice(0, namedAtMost).reduce(note, nobodyNoted);
    const all = (runs: NotedRuns) => names.slice(0, namedAtMost).reduce(settle, runs);
    expect(activeIn(all(settle(note(full, 'X'), 'X')))).toBe(0);
    expect(activeIn(all(settle(note(full, 'X'), 'Y')))).toBe(1);
    expect(activeIn(all(settle(note(note(full, 'X'), 'X'), 'X')))).toBe(1);
    expect(activeIn(all(settle(settle(note(full, 'X'), 'X'), 'X')))).toBeGreaterThan(0);
  });

  it('stands in the way of whoever takes over until the last one has ended (INT-09)', () => {
    const codes = (snapshot: ReturnType<typeof newGeneration>) =>
      migrationBlockersOf(snapshot).filter(({ code }) => code === 'noted_run');
    const crowded = tell(newGeneration(), ...names.map(noted));
    expect(codes(crowded)).toHaveLength(namedAtMost + 1);
    expect(codes(crowded).at(-1)?.detail).toContain(`${names.length - namedAtMost} more runs`);
    const last = tell(crowded, ...names.slice(1).map((name) => ended(name)));
    expect(codes(last)).toMatchObject([{ runId: names[0] }]);
    expect(codes(tell(last, ended('R0')))).toEqual([]);
  });

  it('is made of the one that named everybody (version 4)', () => {
    const named = names.map((name, at) => [name, { origin: 'legacy', run: at % 2 ? 'ended' : 'active' }] as const);
    const runs = fromNamed(Object.fromEntries(named));
    expect(activeIn(runs)).toBe(names.length / 2);
    expect(runs.notedSettled.ended).toBe(names.length / 2);
    const settled = names.filter((_, at) => at % 2 === 0).reduce(settle, runs);
    expect(activeIn(settled)).toBe(0);
  });
});
