/** Every situation that a chart can be in is explained, and what the guards are said to answer is what they answer. */
import { describe, expect, it } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { evidenceOf } from '../../../inspect/explain/evidence.ts';
import { explain } from '../../../inspect/explain/explain.ts';
import type { Explanation } from '../../../inspect/explain/explanation.ts';
import { type Way, waysOn } from '../../../inspect/explain/guards.ts';
import { payloadSchemas } from '../../../machines/events/catalogue.ts';
import type { ActorKind } from '../../../machines/ids.ts';
import { definitions } from '../../../machines/registry.ts';
import type { Table } from '../../machines/support/table.ts';
import { type Step, walk } from '../../machines/support/walk.ts';
import { tables } from '../../machines/tables/byKind.ts';
import { sourceOf } from './support/records.ts';

/** Enough to have been in every state with many contexts; what a chart has beyond that differs in facts alone. */
const situationsAtMost = 400;

function situationsOf(table: Table): ReadonlyMap<AnyMachineSnapshot, readonly Step[]> {
  const steps = new Map<AnyMachineSnapshot, Step[]>();
  walk(table, {
    onStep: (step) => {
      const known = steps.get(step.snapshot);
      if (known === undefined && steps.size === situationsAtMost) return true;
      if (known === undefined) steps.set(step.snapshot, [step]);
      else known.push(step);
      return false;
    },
  });
  return steps;
}

const holes = /undefined|null|NaN|\[object|\$\{|\s{2,}| ,|\(\)|\.\./;

describe.each(Object.keys(tables) as ActorKind[])('a %s', (kind) => {
  const situations = situationsOf(tables[kind]);
  const explained = (snapshot: AnyMachineSnapshot) =>
    explain(sourceOf({ actors: [[kind, 'A1', snapshot]] }), kind, 'A1') as Explanation;

  it('is explained in every state, without a hole in the text', () => {
    const states = new Set<string>();
    for (const snapshot of situations.keys()) {
      const { sentences, state, what, waitsFor, next } = explained(snapshot);
      for (const path of state) states.add(path);
      expect(what.length, state.join()).toBeGreaterThan(20);
      const texts = [...sentences, ...waitsFor, ...next.map(({ sentence }) => sentence)];
      expect(
        texts.filter((text) => holes.test(text) || !/^\S.*[.!?]$/s.test(text)),
        state.join(),
      ).toEqual([]);
    }
    const all = atomicPaths(kind);
    expect([...states].sort()).toEqual(all);
  });

  it('waits for something unless it is over, idle, or open for others', () => {
    for (const snapshot of situations.keys()) {
      const { waitsFor, state } = explained(snapshot);
      if (definitions[kind].isSettled(snapshot)) expect(waitsFor, state.join()).toEqual([]);
      else if (waitsFor.length === 0)
        expect(restful, state.join()).toContainEqual(state.find((path) => restful.includes(path)));
    }
  });

  it('is said to refuse and to take exactly what its guards refuse and take', () => {
    for (const [snapshot, steps] of situations) {
      const ways = waysOn(definitions[kind].machine, snapshot);
      for (const { sample, verdict } of steps) {
        const said = ways.filter(({ event }) => event === sample.type);
        const text = `${sample.type} (${sample.facts.join()}) in ${JSON.stringify(snapshot.value)}`;
        const fired = verdict.fired.map(({ from, to }) => `${from} → ${to}`);
        const open = said.filter(({ answer }) => answer !== false).map(pathsOf);
        const certain = said.filter(({ answer }) => answer === true).map(pathsOf);
        expect(open, text).toEqual(expect.arrayContaining(fired));
        expect(fired, text).toEqual(expect.arrayContaining(certain));
      }
    }
  });
});

const pathsOf = ({ transition }: Way): string =>
  `${transition.source.path.join('.')} → ${transition.target?.map(({ path }) => path.join('.')).join(' + ') ?? null}`;

/** Nobody has to do anything for these: they are left by a decision of somebody else, or never. */
const restful = [
  'idle',
  'lifecycle.open',
  'lifecycle.quarantined',
  'coverage.exitedProved',
  'coverage.neverLaunched',
  'lifecycle.ended',
];

function atomicPaths(kind: ActorKind): string[] {
  const { machine } = definitions[kind];
  const below = (node: typeof machine.root): (typeof machine.root)[] => [
    node,
    ...Object.values(node.states).flatMap((child) => below(child as never)),
  ];
  return below(machine.root)
    .filter(({ type }) => type === 'atomic' || type === 'final')
    .map(({ path }) => path.join('.'))
    .sort();
}

it('has words and a supplier for every event that there is', () => {
  for (const type of Object.keys(payloadSchemas)) {
    const { what, supplier } = evidenceOf(type);
    expect(what, type).not.toContain(type);
    expect(supplier, type).not.toBe('a newer program');
  }
  expect(evidenceOf('constructor').supplier).toBe('a newer program');
});
