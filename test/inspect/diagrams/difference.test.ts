import { describe, expect, it } from 'vitest';
import { assign, setup } from 'xstate';
import { type Charted, chartOf, statesOf } from '../../../inspect/diagrams/chart.ts';
import { differenceOf } from '../../../inspect/diagrams/difference.ts';
import { placeChart } from '../../../inspect/diagrams/layout.ts';
import { svgOf } from '../../../inspect/diagrams/svg.ts';
import { definitions } from '../../../machines/registry.ts';
import { structuralHash } from '../../../machines/structuralHash.ts';
import { faultsOf } from './geometry.ts';
import { elementsOf } from './xmlReader.ts';

const made = setup({ guards: { isGood: () => true, isBetter: () => true }, actions: { note: assign({}) } });

type States = Parameters<typeof made.createMachine>[0]['states'];

function chart(states: NonNullable<States>) {
  const machine = made.createMachine({ id: 'door', initial: 'open', states });
  return chartOf({ kind: 'door' as Charted['kind'], machine, version: 1, structuralHash: structuralHash(machine) });
}

const before = chart({
  open: {
    on: { push: [{ guard: 'isGood', target: 'shut' }, { actions: 'note' }], kick: 'broken' },
  },
  shut: { on: { pull: 'open' } },
  broken: {},
});
const after = chart({
  open: {
    // A choice that comes first moves the others along; they are still the same.
    on: { push: [{ guard: 'isBetter', target: 'locked' }, { guard: 'isGood', target: 'shut' }, { actions: 'note' }] },
  },
  shut: { description: 'Nobody comes in.', on: { pull: { guard: 'isGood', target: 'open' } } },
  locked: {},
});

describe('the difference of two charts', () => {
  it('names what was added, removed and changed, and nothing else', () => {
    expect(differenceOf(before, after).lines).toEqual([
      '~ state door.shut (description: none → Nobody comes in.)',
      '+ state door.locked',
      '- state door.broken',
      '+ door.open on push [isBetter] to door.locked',
      '~ door.shut on pull [isGood] to door.open (guard: none → isGood)',
      '- door.open on kick to door.broken',
    ]);
  });

  it('is drawn with everything that was and is', async () => {
    const { chart: both, changes } = differenceOf(before, after);
    const placed = await placeChart(both);
    expect(faultsOf(placed)).toEqual([]);
    const classes = elementsOf(svgOf(placed, { changes })).flatMap(({ attributes }) =>
      attributes['data-state'] || attributes['data-transition'] ? (attributes.class ?? []) : [],
    );
    expect(classes.sort()).toEqual(['added', 'added', 'changed', 'changed', 'removed', 'removed']);
  });

  it('is nothing where nothing has changed, also after JSON', () => {
    for (const definition of Object.values(definitions)) {
      const now = chartOf(definition);
      expect(differenceOf(JSON.parse(JSON.stringify(now)), now).lines).toEqual([]);
    }
  });

  it('is another version where only what the machine keeps has changed', () => {
    expect(differenceOf(before, { ...before, version: before.version + 1 }).lines).toEqual(['~ version (1 → 2)']);
  });

  it('is everything where a machine is new, or gone', () => {
    const count = statesOf(before.root).length + before.transitions.length;
    expect(differenceOf(null, before).lines.every((line) => line.startsWith('+'))).toBe(true);
    expect(differenceOf(before, null).lines).toHaveLength(count);
    expect(differenceOf(before, null).lines.every((line) => line.startsWith('-'))).toBe(true);
    expect(() => differenceOf(null, null)).toThrow(TypeError);
  });
});
