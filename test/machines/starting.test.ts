import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnyMachineSnapshot, type AnyStateMachine, assign, getInitialSnapshot, setup } from 'xstate';
import { createdBy, type EventType, payloadSchemas } from '../../machines/events/catalogue.ts';
import { definitions } from '../../machines/registry.ts';
import { begin } from '../../machines/starting.ts';
import { start, step, toPersisted } from '../../machines/step.ts';
import { payloadsOf } from './support/arbitraryPayload.ts';

const creating = (Object.keys(payloadSchemas) as EventType[]).flatMap((type) => {
  const kind = createdBy(type);
  return kind === undefined ? [] : [{ type, ...definitions[kind] }];
});

/** Charts that do something on the way in: effects that follow from the input, a state that does. */
const leftToXState = ['goal', 'executionScope'];

/** What a snapshot says and how it answers, in the order in which a row will say it. */
const contentOf = (snapshot: AnyMachineSnapshot) => ({
  row: JSON.stringify(toPersisted(snapshot, snapshot)),
  context: snapshot.context,
  tags: [...snapshot.tags],
  nodes: (snapshot._nodes as ReadonlyArray<{ id: string }>).map(({ id }) => id),
  keys: Object.keys(snapshot),
});

const whole = (machine: AnyStateMachine, input: unknown) => getInitialSnapshot(machine, input) as AnyMachineSnapshot;

describe.each(creating)('the first snapshot of a $kind', ({ type, kind, machine, inputOf }) => {
  it('is the one that XState makes, whatever it is made of (K3)', () => {
    let begun = 0;
    fc.assert(
      fc.property(payloadsOf(type), (payload) => {
        const input = inputOf({ ...payload, type, eventId: 'event of creation' });
        const { snapshot } = start(machine, input);
        if (begin(machine, input) !== undefined) begun += 1;
        expect(contentOf(snapshot)).toEqual(contentOf(whole(machine, input)));
      }),
      { numRuns: 50 },
    );
    expect(begun > 0).toBe(!leftToXState.includes(kind));
  });

  it('is nobody else’s: what becomes of it changes no other', () => {
    const [payload] = fc.sample(payloadsOf(type), { numRuns: 1, seed: 1 });
    const input = inputOf({ ...payload!, type, eventId: 'event of creation' });
    const [one, other] = [start(machine, input).snapshot, start(machine, input).snapshot];
    const before = contentOf(other);
    for (const eventType of machine.events) {
      const [told] = fc.sample(payloadsOf(eventType as EventType), { numRuns: 1, seed: 1 });
      step(machine, one, { ...told!, type: eventType, eventId: eventType });
    }
    expect(contentOf(other)).toEqual(before);
    expect(contentOf(start(machine, input).snapshot)).toEqual(before);
  });
});

type Context = { readonly count: number; readonly me?: string };
const base = setup({
  types: { context: {} as Context, input: {} as { by: number }, events: {} as { type: string } },
  guards: { full: ({ context }) => context.count > 1 },
  actions: { count: assign(({ context }) => ({ count: context.count + 1 })), openGate: () => {} },
});
const counting = ({ input }: { readonly input: { readonly by: number } }): Context => ({ count: input.by });

describe('a first snapshot that more than its input decides', () => {
  it.each([
    ['assigns on entry', base.createMachine({ context: counting, initial: 'in', states: { in: { entry: 'count' } } })],
    [
      'assigns on the way to its first state',
      base.createMachine({ context: counting, initial: { target: 'in', actions: 'count' }, states: { in: {} } }),
    ],
    [
      'may be moved by a condition',
      base.createMachine({
        context: counting,
        initial: 'in',
        states: { in: { always: { guard: 'full', target: 'over' } }, over: {} },
      }),
    ],
    ['is over at once', base.createMachine({ context: counting, initial: 'in', states: { in: { type: 'final' } } })],
    ['has no context of its own', base.createMachine({ context: { count: 1 }, initial: 'in', states: { in: {} } })],
    [
      'asks for its actor',
      base.createMachine({
        context: ({ input, self }) => ({ count: input.by, me: typeof self }),
        initial: 'in',
        states: { in: {} },
      }),
    ],
  ])('is left to XState: it %s', (_, machine) => {
    for (const by of [0, 1, 2, 3]) {
      const { snapshot } = start(machine, { by });
      expect(begin(machine, { by })).toBeUndefined();
      expect(contentOf(snapshot)).toEqual(contentOf(whole(machine, { by })));
    }
  });

  it('throws what it always threw where no context can be made of the input', () => {
    const picky = base.createMachine({
      context: ({ input }) => {
        if (input.by > 1) throw new Error('too many');
        return { count: input.by };
      },
      initial: 'in',
      states: { in: {} },
    });
    expect(start(picky, { by: 1 }).snapshot.context).toEqual({ count: 1 });
    expect(begin(picky, { by: 1 })).toBeDefined();
    expect(() => start(picky, { by: 2 })).toThrow('too many');
  });
});
