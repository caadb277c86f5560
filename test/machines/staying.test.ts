import { describe, expect, it } from 'vitest';
import { assign, setup, transition } from 'xstate';
import { sameJson } from '../../machines/canonical.ts';
import { move } from '../../machines/moving.ts';
import { type Chosen, choose, stay } from '../../machines/staying.ts';
import { start, step } from '../../machines/step.ts';
import { contentOf } from './support/content.ts';
import { walk } from './support/walk.ts';
import { executionScopeTable } from './tables/executionScope.ts';
import { goalTable } from './tables/goal.ts';
import { ptySessionTable } from './tables/ptySession.ts';
import { runTable } from './tables/run.ts';
import { worktreeGenerationTable } from './tables/worktreeGeneration.ts';

const told = (type: string) => ({ type, eventId: `event of ${type}` });

describe.each([executionScopeTable, goalTable, ptySessionTable, runTable, worktreeGenerationTable])(
  'the chart of a $name',
  (table) => {
    it('makes the same step alone as with the whole of XState, wherever it stays and wherever it has moved before (K3)', () => {
      let [stayed, moved] = [0, 0];
      const different: string[] = [];
      walk(table, {
        onStep({ snapshot, sample, configuration }) {
          const event = { ...sample.payload(snapshot.context as never), ...told(sample.type) };
          const chosen = choose(table.machine, snapshot, event);
          const staying = chosen && stay(table.machine, chosen);
          // The walk itself has led XState through it, and what it has learned there is asked for.
          const next = staying ?? (chosen && move(table.machine, chosen));
          if (next === undefined || next === snapshot) return false;
          if (staying === undefined) moved += 1;
          else stayed += 1;
          const [whole] = transition(table.machine, snapshot, event as never);
          if (!sameJson(contentOf(next), contentOf(whole))) different.push(`${sample.type} in ${configuration}`);
          return false;
        },
      });
      expect(different).toEqual([]);
      expect(stayed).toBeGreaterThan(0);
      // Nearly every state of a Goal does something on entry.
      if (table.name !== 'goal') expect(moved).toBeGreaterThan(0);
    });
  },
);

const chart = setup({
  types: { context: {} as { count: number; note: string; word?: string }, events: {} as { type: string; by?: number } },
  actions: {
    count: assign(({ context }) => ({ count: context.count + 1 })),
    note: assign({ note: 'fixed', word: ({ event }) => event.type }),
    counted: assign(({ context }, { by }: { by: number }) => ({ count: context.count + by })),
    openGate: (_, _params: { scopeId: string }) => {},
  },
}).createMachine({
  id: 'staying',
  context: { count: 0, note: '' },
  initial: 'one',
  states: {
    one: {
      on: {
        twice: { actions: ['count', 'count', 'note'] },
        inline: { actions: assign(({ context }) => ({ count: context.count + 10 })) },
        given: { actions: { type: 'counted', params: { by: 5 } } },
        mixed: { actions: ['count', { type: 'openGate', params: { scopeId: 'S1' } }] },
        nothing: {},
        again: { target: 'one', actions: 'count' },
        moved: { target: 'two', actions: 'count' },
      },
    },
    two: {},
  },
});

describe('a step that stays', () => {
  const { snapshot } = start(chart, undefined);
  const stayed = (type: string) => stay(chart, choose(chart, snapshot, told(type)) as Chosen);

  it('runs assignments in order, each on what the one before it left', () => {
    expect(stayed('twice')?.context).toEqual({ count: 2, note: 'fixed', word: 'twice' });
    expect(stayed('inline')?.context).toEqual({ count: 10, note: '' });
    expect(snapshot.context).toEqual({ count: 0, note: '' });
  });

  it.each(['given', 'mixed', 'again', 'moved'])('leaves to XState what does more than assign: %s', (type) => {
    expect(stayed(type)).toBeUndefined();
    const [whole] = transition(chart, snapshot, told(type));
    expect(step(chart, snapshot, told(type)).snapshot.context).toEqual(whole.context);
  });

  it.each(['nothing', 'unlisted'])('is the very same snapshot where nothing is to be done: %s', (type) => {
    expect(stayed(type)).toBe(snapshot);
  });

  it('leaves everything to XState in a chart that a condition alone may move', () => {
    const eager = setup({
      types: { context: {} as { count: number }, events: {} as { type: string } },
      guards: { full: ({ context }) => context.count > 0 },
      actions: { count: assign(({ context }) => ({ count: context.count + 1 })) },
    }).createMachine({
      id: 'eager',
      context: { count: 0 },
      initial: 'filling',
      states: {
        filling: { on: { counted: { actions: 'count' } }, always: { guard: 'full', target: 'over' } },
        over: {},
      },
    });
    const first = start(eager, undefined).snapshot;
    expect(choose(eager, first, told('counted'))).toBeUndefined();
    expect(step(eager, first, told('counted')).snapshot.value).toBe('over');
  });
});
