import { describe, expect, it } from 'vitest';
import { drainAll } from '../../actors/drain/drainAll.ts';

/** A store in which orders settle scopes, and something may be launched while they do. */
function store(initial: readonly string[], launchedDuring: Readonly<Record<string, readonly string[]>> = {}) {
  const owned = new Set(initial);
  const said: string[] = [];
  let now = 0;
  return {
    said,
    stuck: new Set<string>(),
    clock: { monoMs: () => now },
    pass: (ms: number) => {
      now += ms;
    },
    work(this: { stuck: Set<string> }) {
      const { stuck } = this;
      return {
        owned: () => [...owned],
        order: async (scopeId: string) => void said.push(`order ${scopeId}`),
        settled: async (scopeIds: readonly string[]) => {
          for (const scopeId of scopeIds) {
            if (!stuck.has(scopeId)) owned.delete(scopeId);
            for (const late of launchedDuring[scopeId] ?? []) owned.add(late);
          }
          now += 10;
        },
        onSettled: () => void said.push('settled'),
      };
    },
  };
}

describe('SHUT-10: the end of everything that is owned', () => {
  it('finds what was launched meanwhile by looking again, as often as it has to', async () => {
    const here = store(['a'], { a: ['b'], b: ['c'] });
    expect(await drainAll(here.work(), { untilMonoMs: 1_000, clock: here.clock })).toEqual({
      settled: ['a', 'b', 'c'],
      left: [],
    });
    expect(here.said).toEqual(['order a', 'settled', 'order b', 'order c']);
  });

  it('orders nobody twice, and names who is left', async () => {
    const here = store(['a', 'b'], { a: ['c'] });
    here.stuck.add('b');
    expect(await drainAll(here.work(), { untilMonoMs: 1_000, clock: here.clock })).toEqual({
      settled: ['a', 'c'],
      left: ['b'],
    });
    expect(here.said).toEqual(['order a', 'order b', 'settled', 'order c']);
  });

  it('comes to an end although new ones never cease to come: those are left, and not forgotten', async () => {
    const endless: Record<string, string[]> = {};
    for (let n = 0; n < 1_000; n += 1) endless[`s${n}`] = [`s${n + 1}`];
    const here = store(['s0'], endless);
    const { settled, left } = await drainAll(here.work(), { untilMonoMs: 95, clock: here.clock });
    expect([settled.length, left]).toEqual([10, ['s10']]);
  });

  it('asks for the ends at least once, however little time there is', async () => {
    const here = store(['a']);
    here.stuck.add('a');
    expect(await drainAll(here.work(), { untilMonoMs: 0, clock: here.clock })).toEqual({ settled: [], left: ['a'] });
    expect(here.said).toEqual(['order a', 'settled']);
  });
});
