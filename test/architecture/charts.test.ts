import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, type AnyStateNode, and, createMachine, fromCallback } from 'xstate';
import { definitions } from '../../machines/registry.ts';
import { combinatorOf } from '../../machines/structuralHash.ts';

/** What may not be in a persisted chart, found in the chart itself: what the source rules cannot see is caught here. */
function problemsOf(machine: AnyStateMachine): string[] {
  return nodesOf(machine.root).flatMap((node) => {
    const transitions = [...node.transitions.values()].flat().concat(node.always ?? []);
    const guards = transitions.flatMap(({ guard }) => (guard === undefined ? [] : namesOfGuard(guard)));
    const actions = [...transitions, node].flatMap((from) =>
      'actions' in from ? from.actions : [...from.entry, ...from.exit],
    );
    return [
      ...node.invoke.map(() => 'invokes something'),
      ...node.after.map(() => 'waits for a timer'),
      ...guards
        .filter((name) => !Object.hasOwn(machine.implementations.guards, name))
        .map((name) => `no guard ${name}`),
      ...actions
        .map(nameOfAction)
        .filter((name) => !Object.hasOwn(machine.implementations.actions, name))
        .map((name) => `no action ${name}`),
      ...(waits(node, transitions.length) && !node.description ? ['does not say what it waits for'] : []),
    ].map((problem) => `${node.id}: ${problem}`);
  });
}

function nodesOf(node: AnyStateNode): AnyStateNode[] {
  return [node, ...Object.values(node.states).flatMap(nodesOf)];
}

/** `and(['a', not('b')])` → a, b. A function that no combinator made is an inline guard, and has no name. */
function namesOfGuard(guard: unknown): string[] {
  if (typeof guard === 'string') return [guard];
  if (typeof guard === 'object' && guard !== null) return [String((guard as { type: unknown }).type)];
  const made = combinatorOf(guard);
  if (made === undefined) return ['(inline)'];
  return made === 'stateIn' ? [] : ((guard as { guards?: unknown[] }).guards ?? []).flatMap(namesOfGuard);
}

function nameOfAction(action: unknown): string {
  if (typeof action === 'string') return action;
  return typeof action === 'function' ? '(inline)' : String((action as { type: unknown }).type);
}

function waits(node: AnyStateNode, transitions: number): boolean {
  return node.type === 'atomic' && transitions > 0;
}

describe.each(Object.entries(definitions))('the chart of a %s', (_, { machine }) => {
  it('neither invokes nor waits for timers, names what it does, and says what it waits for (JRN-11)', () => {
    expect(problemsOf(machine)).toEqual([]);
  });
});

describe('the walk over a chart', () => {
  const onGo = (transition: object) => ({ states: { a: { description: 'waits', on: { go: transition } }, b: {} } });
  const cases: readonly (readonly [string, object])[] = [
    ['invokes something', { states: { a: { invoke: { src: fromCallback(() => undefined) } } } }],
    ['waits for a timer', { states: { a: { description: 'waits', after: { 10: 'b' } }, b: {} } }],
    ['no guard isOpen', onGo({ guard: 'isOpen', target: 'b' })],
    ['no guard isOpen', onGo({ guard: and(['isOpen']), target: 'b' })],
    ['no guard (inline)', onGo({ guard: () => true, target: 'b' })],
    ['no action note', onGo({ actions: 'note' })],
    ['no action note', { states: { a: { entry: 'note' } } }],
    ['no action (inline)', onGo({ actions: () => undefined })],
    ['does not say what it waits for', { states: { a: { on: { go: 'b' } }, b: {} } }],
  ];

  it.each(cases)('sees: %s', (problem, config) => {
    const machine = createMachine({ id: 'm', initial: 'a', ...config } as Parameters<typeof createMachine>[0]);
    expect(problemsOf(machine).map((found) => found.replace(/^[\w.]+: /, ''))).toContain(problem);
  });
});
