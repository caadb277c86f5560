import { describe, expect, it } from 'vitest';
import { armedDeadlines, isOutputNews } from '../../machines/ptySession.ts';
import { boot, laterBoot } from './support/evidence.ts';
import { playSession, type Told } from './support/play.ts';
import { openedAt } from './support/sessionSamples.ts';
import { answered, begun, ended, needsInput, output, reached, resized, result } from './support/sessionStory.ts';

const deadlines = { hardMs: 60_000, idleMs: 30_000, startupMs: 10_000 };
const play = (...story: Told[]) => playSession(story, { deadlines });
const workloadAfter = (...story: Told[]) => play(...story).snapshot.value.workload;
/** Kind, basis, and how long after the opening. */
const armed = (...story: Told[]) =>
  armedDeadlines(play(...story).snapshot).map(
    ({ kind, basisActivitySeq, monoMs }) => [kind, basisActivitySeq, monoMs - openedAt.monoMs] as const,
  );

describe('deadlines of a session (PTY-09)', () => {
  it('count from the opening until there is output', () => {
    const expected = [
      ['hard', 0, 60_000],
      ['startup', 0, 10_000],
      ['idle', 0, 30_000],
    ];
    expect(armed()).toEqual(expected);
    expect(armed(begun)).toEqual(expected);
    expect(armedDeadlines(play().snapshot)[0]).toEqual({
      deadlineId: 'hard:P1',
      kind: 'hard',
      basisActivitySeq: 0,
      bootId: boot,
      monoMs: 65_000,
    });
  });

  it('are met by the first output, and moved by the next', () => {
    expect(armed(begun, output(1, 2_000))).toEqual([
      ['hard', 0, 60_000],
      ['idle', 1, 32_000],
    ]);
    expect(armed(begun, output(1, 2_000), output(5, 9_000))).toEqual([
      ['hard', 0, 60_000],
      ['idle', 5, 39_000],
    ]);
  });

  it('are moved by nothing else (PTY-08)', () => {
    const before = armed(begun, output(1, 2_000));
    expect(armed(begun, output(1, 2_000), needsInput, answered, resized)).toEqual(before);
  });

  it('are over once the end is under way', () => {
    expect(armed(begun, result(true))).toEqual([]);
    expect(armed(begun, ended())).toEqual([]);
    expect(armedDeadlines(playSession([begun]).snapshot)).toEqual([]);
  });

  it.each(['hard', 'startup', 'idle'] as const)('end a session when they are reached: %s', (kind) => {
    const afterMs = deadlines[`${kind}Ms`];
    expect(workloadAfter(begun, reached(kind, [0, afterMs]))).toBe('ending');
    expect(workloadAfter(reached(kind, [0, afterMs]))).toBe('ending');
    expect(play(begun, reached(kind, [0, afterMs])).snapshot.context.firstFailure).toMatchObject({ reason: kind });
  });

  it.each<readonly [string, Told]>([
    ['output has come since it was queued', reached('idle', [0, 30_000])],
    ['it was for the start, which has been', reached('startup', [0, 10_000])],
    ['it is of another boot', reached('hard', [0, 60_000], laterBoot)],
    ['it was moved', reached('hard', [0, 50_000])],
    ['its activity never was', reached('idle', [7, 32_000])],
    ['it borrows the basis of another', reached('startup', [1, 32_000])],
  ])('are ignored where %s', (_, late) => {
    const { snapshot, changes } = play(begun, output(1, 2_000), late);
    expect(changes.at(-1)).toBe('unmatched');
    expect(snapshot.value.workload).toEqual({ running: 'working' });
    expect(snapshot.context).toMatchObject({ firstFailure: null, faults: [] });
  });

  it('are ignored where there are none', () => {
    expect(playSession([begun, reached('hard', [0, 0])]).changes.at(-1)).toBe('unmatched');
  });

  it('are a fault, and never a second end, when they come during the end', () => {
    const { snapshot } = play(begun, result(true), reached('hard', [0, 60_000]));
    expect(snapshot.context.faults).toMatchObject([{ cause: 'deadline', reason: 'hard' }]);
    expect(snapshot.context.firstFailure).toBeNull();
  });
});

describe('output (ruling 13)', () => {
  it.each<readonly [string, readonly Told[], boolean]>([
    ['before the release', [], false],
    ['the first', [begun], true],
    ['more of it', [begun, output(1, 500)], false],
    ['after a call for input', [begun, output(1, 500), needsInput], true],
    ['after the answer', [begun, output(1, 500), needsInput, answered], false],
    ['during the end', [begun, result(true)], false],
    ['after it', [begun, ended()], false],
  ])('is worth an event or not: %s', (_, story, isNews) => {
    expect(isOutputNews(play(...story).snapshot)).toBe(isNews);
  });
});
