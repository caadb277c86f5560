import { describe, expect, it } from 'vitest';
import { rowsOf } from './support/nodes.ts';
import type { GuardTerm } from './support/table.ts';
import { walk } from './support/walk.ts';
import { ptySessionTable } from './tables/ptySession.ts';

/** Leaves of one region. */
const leavesOfRegion = (region: string): string[] =>
  Object.entries(ptySessionTable.states)
    .filter(([path, { initial }]) => path.startsWith(`${region}.`) && initial === undefined)
    .map(([path]) => path);

const reached = new Set<string>();
walk(ptySessionTable, {
  onStep: ({ configuration }) => {
    reached.add([...configuration].sort().join(' ‖ '));
    return false;
  },
});

describe('the three regions of a session (PTY-01)', () => {
  const combinations = leavesOfRegion('capture').flatMap((capture) =>
    leavesOfRegion('scope').flatMap((scope) =>
      leavesOfRegion('workload').map((workload) => [capture, scope, workload].join(' ‖ ')),
    ),
  );

  it('are independent: every state of one occurs with every state of the others', () => {
    expect(combinations.length).toBe(6 * 5 * 3);
    expect(combinations.filter((combination) => !reached.has(combination))).toEqual([]);
  });

  it('have no guard that asks about another one', () => {
    const asksElsewhere = (term: GuardTerm): boolean => typeof term !== 'string';
    expect(rowsOf(ptySessionTable.machine).filter(({ guards }) => guards.some(asksElsewhere))).toEqual([]);
  });
});
