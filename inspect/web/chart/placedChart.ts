/** What the page asks of a chart that was placed by the server. */
import type { ChartState } from '../../diagrams/chart.ts';

export type { ChartState, ChartTransition } from '../../diagrams/chart.ts';
export type { Box, PlacedChart, PlacedLabel, PlacedTransition, Point } from '../../diagrams/placed.ts';

/** Every state of a chart, parents before their children. */
export const statesOf = (state: ChartState): readonly ChartState[] => [state, ...state.children.flatMap(statesOf)];

/** Ids of the states that leaf paths name, their parents included: `lifecycle.bound` in the chart `run`. */
export function activeIn(root: string, leaves: readonly string[]): ReadonlySet<string> {
  const active = new Set([root]);
  for (const leaf of leaves) {
    let id = root;
    for (const key of leaf.split('.')) {
      id = `${id}.${key}`;
      active.add(id);
    }
  }
  return active;
}
