import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnyStateMachine, and, createMachine, not, or, stateIn } from 'xstate';
import { executionScopeMachine } from '../../machines/executionScope.ts';
import { runMachine } from '../../machines/run.ts';
import { structuralHash } from '../../machines/structuralHash.ts';

const door = {
  id: 'door',
  initial: 'shut',
  states: {
    shut: { on: { push: { guard: 'isOpen', target: 'ajar', actions: ['creak'] } } },
    ajar: { tags: ['passable'], entry: ['chime'], always: { guard: 'isWide', target: 'open' } },
    open: { initial: 'wide', states: { wide: {}, wider: {}, last: { type: 'history', target: 'wide' } } },
  },
};
type Door = typeof door;

/** The door with one thing changed; a copy, so that no case sees another's change. */
function changed(change: (copy: Record<string, never> & Door) => void): AnyStateMachine {
  const copy = structuredClone(door);
  change(copy as never);
  return createMachine(copy as never) as AnyStateMachine;
}

const set = (target: object, fields: object): void => void Object.assign(target, fields);
const original = structuralHash(changed(() => {}));

describe('the structural hash of a chart', () => {
  it.each<readonly [string, (copy: Door) => void]>([
    ['an eventless transition', ({ states }) => set(states.ajar, { always: undefined })],
    ['the guard of an eventless transition', ({ states }) => set(states.ajar.always, { guard: 'isOpen' })],
    ['the target of an eventless transition', ({ states }) => set(states.ajar.always, { target: 'shut' })],
    ['a guard', ({ states }) => set(states.shut.on.push, { guard: 'isWide' })],
    ['a guard that is gone', ({ states }) => set(states.shut.on.push, { guard: undefined })],
    ['a condition on a state', ({ states }) => set(states.shut.on.push, { guard: stateIn('ajar') })],
    ['a target', ({ states }) => set(states.shut.on.push, { target: 'open' })],
    ['a target that is gone', ({ states }) => set(states.shut.on.push, { target: undefined })],
    ['a transition that enters again', ({ states }) => set(states.shut.on.push, { reenter: true })],
    ['an action', ({ states }) => set(states.shut.on.push, { actions: ['slam'] })],
    ['the order of actions', ({ states }) => set(states.shut.on.push, { actions: ['creak', 'slam'] })],
    ['the params of an action', ({ states }) => set(states.shut.on.push, { actions: [{ type: 'creak', params: 1 }] })],
    ['an entry action', ({ states }) => set(states.ajar, { entry: [] })],
    ['an exit action', ({ states }) => set(states.ajar, { exit: ['slam'] })],
    ['a first state', (copy) => set(copy, { initial: 'ajar' })],
    ['the first state of a part', ({ states }) => set(states.open, { initial: 'wider' })],
    ['a tag', ({ states }) => set(states.ajar, { tags: [] })],
    ['an event', ({ states }) => set(states.shut.on, { pull: 'ajar' })],
    ['the name of an event', ({ states }) => set(states.shut, { on: { pull: states.shut.on.push } })],
    ['a handler of the root', (copy) => set(copy, { on: { burn: '.open' } })],
    ['a state', ({ states }) => set(states, { locked: {} })],
    ['the type of a state', ({ states }) => set(states.open, { type: 'parallel', initial: undefined })],
    ['a final state', ({ states }) => set(states.open.states.wide, { type: 'final' })],
    ['the target of a history', ({ states }) => set(states.open.states.last, { target: 'wider' })],
    ['the depth of a history', ({ states }) => set(states.open.states.last, { history: 'deep' })],
    ['a delayed transition', ({ states }) => set(states.shut, { after: { 1000: 'ajar' } })],
    ['its delay', ({ states }) => set(states.shut, { after: { 2000: 'ajar' } })],
    ['an invoked actor', ({ states }) => set(states.shut, { invoke: { src: 'doorman' } })],
  ])('moves with %s', (_, change) => {
    expect(structuralHash(changed(change))).not.toBe(original);
  });

  it.each<readonly [string, (copy: Door) => void]>([
    ['a description', ({ states }) => set(states.shut, { description: 'Nobody passes.' })],
    ['the description of a transition', ({ states }) => set(states.shut.on.push, { description: 'Somebody comes.' })],
    ['the order of events', ({ states }) => set(states.shut, { on: { ...states.shut.on } })],
  ])('does not move with %s', (_, change) => {
    expect(structuralHash(changed(change))).toBe(original);
  });

  it('tells every combination of guards from the others', () => {
    const guards = [
      'a',
      and(['a', 'b']),
      or(['a', 'b']),
      and(['b', 'a']),
      not('a'),
      not(and(['a', 'b'])),
      not(or(['a', 'b'])),
      stateIn('shut'),
      stateIn('ajar'),
      not(stateIn('shut')),
    ];
    const hashes = guards.map((guard) => structuralHash(changed(({ states }) => set(states.shut.on.push, { guard }))));
    expect(new Set(hashes).size).toBe(guards.length);
  });
});

describe('in the shipped program', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'custody-hash-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is what it is here, although the bundler renames functions', async () => {
    const from = (name: string) => fileURLToPath(new URL(`../../machines/${name}.ts`, import.meta.url));
    const contents = ['structuralHash', 'executionScope', 'run']
      .map((name) => `export * from '${from(name)}';`)
      .join('\n');
    const outfile = join(folder, 'bundle.mjs');
    await build({
      stdin: { contents, resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile,
    });
    const bundled = await import(pathToFileURL(outfile).href);
    expect(bundled.structuralHash(bundled.executionScopeMachine)).toBe(structuralHash(executionScopeMachine));
    expect(bundled.structuralHash(bundled.runMachine)).toBe(structuralHash(runMachine));
  });
});
