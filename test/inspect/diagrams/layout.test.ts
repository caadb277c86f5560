import { describe, expect, it } from 'vitest';
import { chartOf, statesOf } from '../../../inspect/diagrams/chart.ts';
import { placeChart } from '../../../inspect/diagrams/layout.ts';
import type { Box, PlacedChart } from '../../../inspect/diagrams/placed.ts';
import { definitions } from '../../../machines/registry.ts';
import { everyConstruct } from './everyConstruct.ts';
import { faultsOf } from './geometry.ts';

describe.each([...Object.values(definitions), everyConstruct])('the drawing of a $kind', (definition) => {
  const chart = chartOf(definition);

  it('has every state in its parent, every line from border to border, and no label on anything else', async () => {
    const placed = await placeChart(chart);
    expect(faultsOf(placed)).toEqual([]);
    expect(Object.keys(placed.states)).toEqual(statesOf(chart.root).map(({ id }) => id));
  });

  it('is the same each time', async () => {
    expect(await placeChart(chart)).toEqual(await placeChart(chart));
  });
});

it('puts parallel regions beside each other', async () => {
  const placed = await placeChart(chartOf(definitions.goal));
  const regions = placed.chart.root.children.map(({ id }) => placed.states[id] as Box);
  expect(new Set(regions.map(({ y, height }) => `${y} ${height}`)).size).toBe(1);
  expect(regions.map(({ x }) => x)).toEqual(regions.map(({ x }) => x).sort((a, b) => a - b));
});

describe('the test of a drawing', () => {
  const moved = (placed: PlacedChart, id: string, label: Partial<Box>): PlacedChart => ({
    ...placed,
    transitions: placed.transitions.map((one) =>
      one.id === id && one.label !== null ? { ...one, label: { ...one.label, ...label } } : one,
    ),
  });

  it('sees labels on labels, labels on states, lost lines and lines that end nowhere', async () => {
    const placed = await placeChart(chartOf(definitions.run));
    const id = 'run.lifecycle.bound#scope.exitProved#0';
    const other = placed.transitions.find((one) => one.id === 'run.lifecycle.bound#workload.statusReceipt#0');
    expect(faultsOf(moved(placed, id, { x: other?.label?.x ?? 0, y: other?.label?.y ?? 0 }))).toContainEqual(
      expect.stringContaining('is written over'),
    );
    const { x = 0, y = 0 } = placed.states['run.lifecycle.ended'] ?? {};
    expect(faultsOf(moved(placed, id, { x: x - 20, y }))).toContainEqual(expect.stringContaining('across the border'));
    expect(faultsOf({ ...placed, transitions: placed.transitions.slice(1) })).toContain('not every transition once');
    const bent = placed.transitions.map((one) => ({ ...one, points: one.points.slice(0, -1) }));
    expect(faultsOf({ ...placed, transitions: bent })).toContainEqual(expect.stringContaining('does not end at'));
  });
});
