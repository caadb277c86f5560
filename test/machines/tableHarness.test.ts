import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { inState, not, row, type Table } from './support/table.ts';
import { walk } from './support/walk.ts';

const door = setup({
  types: { context: {} as { locked: boolean }, events: {} as { type: 'push' | 'lock' } },
  guards: { isLocked: ({ context }) => context.locked },
  actions: { turn: () => {} },
}).createMachine({
  id: 'door',
  context: { locked: false },
  initial: 'shut',
  states: {
    shut: { on: { push: { guard: 'isLocked', target: 'jammed' } } },
    jammed: {},
  },
});

const lockedDoor = setup({
  types: { context: {} as { locked: boolean }, events: {} as { type: 'push' } },
  guards: { isLocked: ({ context }) => context.locked },
}).createMachine({
  id: 'door',
  context: { locked: true },
  initial: 'shut',
  states: { shut: { on: { push: { guard: 'isLocked', target: 'jammed' } } }, jammed: {} },
});

const table: Table = {
  name: 'door',
  machine: lockedDoor,
  states: { '': { initial: 'shut' }, shut: {}, jammed: {} },
  rows: [row('shut', 'push', { guards: ['isLocked'], to: 'jammed' })],
  guards: { isLocked: (is) => is('locked') },
  factsOf: ({ locked }: { locked: boolean }) => (locked ? ['locked'] : []),
  starts: [{ name: 'any', input: undefined }],
  samples: [{ type: 'push', facts: [], payload: () => ({}) }],
};

function disagreements(changed: Partial<Table>): string[] {
  const found: string[] = [];
  walk(
    { ...table, ...changed },
    {
      onStep: ({ disagreement }) => {
        if (disagreement !== null) found.push(disagreement);
        return false;
      },
    },
  );
  return found;
}

describe('the table harness itself', () => {
  it('finds nothing where table and chart agree', () => {
    expect(disagreements({})).toEqual([]);
  });

  it('notices a row that the table lacks', () => {
    expect(disagreements({ rows: [] })).toEqual(['the chart accepts it and goes to jammed']);
  });

  it('notices another target', () => {
    expect(disagreements({ rows: [row('shut', 'push', { guards: ['isLocked'] })] })).toEqual([
      'the chart goes to jammed instead of shut',
    ]);
  });

  it('notices a transition that the chart lacks', () => {
    const rows = [...table.rows, row('jammed', 'push', { to: 'shut' })];
    expect(disagreements({ rows })).toEqual(['the chart refuses: jammed + push → shut']);
  });

  it('notices a guard that means something else', () => {
    expect(disagreements({ guards: { isLocked: () => false } })).toEqual(['the chart accepts it and goes to jammed']);
  });

  it('notices a refusal that blames the wrong guard', () => {
    const rows = [row('shut', 'push', { guards: ['isLocked', not(inState('shut'))], to: 'jammed' })];
    expect(disagreements({ machine: door, rows })).toEqual(['refused by [isLocked] instead of [isLocked,not in shut]']);
  });
});
