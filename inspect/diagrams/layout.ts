/**
 * Where everything of a chart is drawn. ELK places states and the labels of transitions in one go, across all levels, so
 * that no label lies on anything else. A transition that stays in its state has no line: it is written inside of the state.
 */
import type { ElkNode } from 'elkjs/lib/elk-api.js';
import type { Chart } from './chart.ts';
import { elkOf } from './layoutGraph.ts';
import { placedOf } from './layoutResult.ts';
import type { PlacedChart } from './placed.ts';

export type { Box, PlacedChart, PlacedInitial, PlacedLabel, PlacedTransition, Point } from './placed.ts';

/** How much wider than high a drawing is at best. */
const bestRatio = 1.5;
const directions = ['DOWN', 'RIGHT'] as const;

export async function placeChart(chart: Chart): Promise<PlacedChart> {
  // Loaded by what draws, and by nothing else: it is by far the largest library here.
  const { default: Elk } = await import('elkjs/lib/elk.bundled.js');
  const elk = new Elk.default();
  const placed: ElkNode[] = [];
  for (const direction of directions) placed.push(await elk.layout(elkOf(chart, direction)));
  return placedOf(
    chart,
    placed.reduce((best, other) => (badness(other) < badness(best) ? other : best)),
  );
}

/** Large drawings are bad, and so are strips. */
function badness({ width = 0, height = 0 }: ElkNode): number {
  const ratio = width / height / bestRatio;
  return width * height * Math.max(ratio, 1 / ratio);
}
