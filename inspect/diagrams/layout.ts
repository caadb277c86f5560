/**
 * Where everything of a chart is drawn. ELK places states and the labels of transitions in one go, across all levels, so
 * that no label lies on anything else. A transition that stays in its state has no line: it is written inside of the state.
 */
import type { ElkNode } from 'elkjs/lib/elk-api.js';
import type { Chart, ChartState } from './chart.ts';
import { type Direction, elkOf, hasRoom } from './layoutGraph.ts';
import { isSeparable, sideBySide } from './layoutRegions.ts';
import { placedOf } from './layoutResult.ts';
import type { PlacedChart } from './placed.ts';

export type { Box, PlacedChart, PlacedInitial, PlacedLabel, PlacedTransition, Point } from './placed.ts';

/** How much wider than high a drawing is at best. */
const bestRatio = 1.5;
const directions: readonly Direction[] = ['DOWN', 'RIGHT'];

export async function placeChart(chart: Chart): Promise<PlacedChart> {
  // Loaded by what draws, and by nothing else: it is by far the largest library here.
  const { default: Elk } = await import('elkjs/lib/elk.bundled.js');
  const elk = new Elk.default();
  const bothWays = async (state: ChartState): Promise<readonly ElkNode[]> => {
    const placed: ElkNode[] = [];
    for (const direction of directions) placed.push(await elk.layout(elkOf(chart, state, direction)));
    return placed.filter((drawing) => hasRoom(chart, drawing));
  };
  if (!isSeparable(chart)) return placedOf(chart, best(await bothWays(chart.root)));
  let choices: readonly (readonly ElkNode[])[] = [[]];
  for (const region of chart.root.children) {
    const placed = await bothWays(region);
    choices = choices.flatMap((chosen) => placed.map((one) => [...chosen, one]));
  }
  return placedOf(chart, best(choices.map((regions) => sideBySide(chart, regions))));
}

const best = (drawings: readonly ElkNode[]): ElkNode =>
  drawings.reduce((one, other) => (badness(other) < badness(one) ? other : one));

/** Large drawings are bad, and so are strips. */
function badness({ width = 0, height = 0 }: ElkNode): number {
  const ratio = width / height / bestRatio;
  return width * height * Math.max(ratio, 1 / ratio);
}
