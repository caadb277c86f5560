import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, assign, cancel, emit, log, raise, sendTo, setup, spawnChild } from 'xstate';
import { isEffectType } from '../../machines/effects.ts';
import { definitions } from '../../machines/registry.ts';
import { actionName, nodesOf, pathOf, rowsOf } from './support/nodes.ts';

/** What XState's own actions may do inside a step: change the context, or gather effects. */
const pureActions = new Set(['xstate.assign', 'xstate.enqueueActions']);

/** Named actions whose implementation would act before the commit, or leave something outside the snapshot (JRN-11). */
function livingActions({ implementations }: AnyStateMachine): string[] {
  return Object.entries(implementations.actions)
    .filter(([name, action]) => !pureActions.has(String((action as { type?: unknown }).type)) && !isEffectType(name))
    .map(([name]) => name);
}

describe.each(Object.values(definitions))('the chart of a $kind', ({ kind, machine, version }) => {
  it('acts through assignments and effects alone: nothing is sent, raised or spawned (JRN-11)', () => {
    expect(livingActions(machine)).toEqual([]);
    expect(Object.keys(machine.implementations.actors)).toEqual([]);
    expect(Object.keys(machine.implementations.delays)).toEqual([]);
    expect(nodesOf(machine).flatMap(({ invoke, after }) => [...invoke, ...after])).toEqual([]);
  });

  it('uses every action that it declares, and declares no effect of another name', () => {
    const used = new Set([...rowsOf(machine).flatMap(({ actions }) => actions), ...entriesOf(machine)]);
    const declared = Object.keys(machine.implementations.actions);
    expect(declared.filter((name) => !used.has(name) && !isEffectType(name))).toEqual([]);
  });

  it('says of every state that is not the end what it means to be there', () => {
    const silent = nodesOf(machine)
      .filter(({ type, description }) => type === 'atomic' && description === undefined)
      .filter(({ tags }) => !tags.includes('terminal'));
    expect(silent.map(pathOf)).toEqual([]);
  });

  it('is named after its kind and carries its version', () => {
    expect(machine.id).toBe(kind);
    expect(machine.version).toBe(String(version));
  });
});

const entriesOf = (machine: AnyStateMachine): string[] =>
  nodesOf(machine).flatMap(({ entry, exit }) => [...entry, ...exit].map(actionName));

it('would notice an action that sends, raises, spawns, cancels, emits or runs code (JRN-11)', () => {
  const actions = {
    sends: sendTo('somebody', { type: 'x' }),
    raises: raise({ type: 'x' }, { delay: 10 }),
    spawns: spawnChild('child' as never),
    cancels: cancel('x'),
    emits: emit({ type: 'x' }),
    logs: log('x'),
    runs: () => {},
    openGate: () => {},
    notes: assign({}),
  };
  const machine = setup({ actions: actions as never }).createMachine({}) as AnyStateMachine;
  expect(livingActions(machine)).toEqual(['sends', 'raises', 'spawns', 'cancels', 'emits', 'logs', 'runs']);
});
