import { describe, expect, it } from 'vitest';
import { type AnyMachineSnapshot, type AnyStateMachine, assign, setup, transition } from 'xstate';
import { move } from '../../machines/moving.ts';
import { choose } from '../../machines/staying.ts';
import { start, step } from '../../machines/step.ts';
import { contentOf } from './support/content.ts';

const told = (type: string) => ({ type, eventId: `event of ${type}` });

type Context = { readonly count: number };
const base = setup({
  types: { context: {} as Context, events: {} as { type: string } },
  guards: { full: ({ context }) => context.count > 1 },
  actions: { count: assign(({ context }) => ({ count: context.count + 1 })), openGate: () => {} },
});

/** Moves twice with different contexts, so that whatever was learned from the first time would show the second time. */
function twice(states: Record<string, object>) {
  const config = { context: { count: 0 }, initial: 'one', states };
  const machine = base.createMachine(config as never) as unknown as AnyStateMachine;
  const { snapshot } = start(machine, undefined);
  return [snapshot, { ...snapshot, context: { count: 7 } } as AnyMachineSnapshot].map((before) => {
    const after = step(machine, before, told('go')).snapshot;
    const [whole] = transition(machine, before, told('go'));
    expect(contentOf(after)).toEqual(contentOf(whole));
    const chosen = choose(machine, before, told('go'));
    return chosen && move(machine, chosen);
  });
}

describe('a step into another state', () => {
  it('is made alone once XState has made it from the same states', () => {
    const [, again] = twice({ one: { on: { go: { target: 'two', actions: 'count' } } }, two: {} });
    expect(again?.context).toEqual({ count: 8 });
  });

  it.each([
    ['does something on entry', { one: { on: { go: 'two' } }, two: { entry: 'count' } }],
    ['does something on leaving', { one: { on: { go: 'two' }, exit: 'count' }, two: {} }],
    [
      'does something on the way further in',
      { one: { on: { go: 'two' } }, two: { initial: { target: 'in', actions: 'count' }, states: { in: {} } } },
    ],
    ['does more than assign', { one: { on: { go: { target: 'two', actions: 'openGate' } } }, two: {} }],
    ['ends', { one: { on: { go: 'two' } }, two: { type: 'final' } }],
    ['may be moved on', { one: { on: { go: 'two' } }, two: { always: { guard: 'full', target: 'one' } } }],
    [
      'is remembered',
      {
        one: {
          on: { go: 'two' },
          initial: 'a',
          states: { a: {}, last: { type: 'history' } },
        },
        two: { on: { back: 'one.last' } },
      },
    ],
  ])('is left to XState where it %s', (_, states) => {
    expect(twice(states)).toEqual([undefined, undefined]);
  });
});
