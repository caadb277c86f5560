/** What ELK has placed, as the places of a chart. */
import type { ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api.js';
import { type Chart, type ChartState, type ChartTransition, statesOf } from './chart.ts';
import { headingOf, labelOf, stayingLabelOf, type Written } from './label.ts';
import { branchIdOf, headingGap, initialIdOf, isStaying, padding, stayingOf } from './layoutGraph.ts';
import type { Box, PlacedChart, PlacedInitial, PlacedLabel, PlacedTransition, Point } from './placed.ts';

export function placedOf(chart: Chart, drawing: ElkNode): PlacedChart {
  const boxes = Object.fromEntries(nodesOf(drawing).map((node) => [node.id, boxOf(node)]));
  const edges = new Map((drawing.edges ?? []).map((edge) => [edge.id, edge]));
  const states = statesOf(chart.root);
  const written = states.flatMap((state) => writtenIn(chart, state, boxes[state.id] as Box));
  return {
    chart,
    width: Math.ceil(drawing.width ?? 0),
    height: Math.ceil(drawing.height ?? 0),
    states: Object.fromEntries(states.map(({ id }) => [id, boxes[id] as Box])),
    headings: Object.fromEntries(written.filter(({ of }) => of === 'state').map(({ id, label }) => [id, label])),
    initials: states.flatMap((state) => initialsOf(state, edges)),
    transitions: chart.transitions.map((transition) => {
      const { id } = transition;
      if (!isStaying(transition)) return lineOf(transition, edges);
      return { id, points: [], branches: [], label: written.find((one) => one.id === id)?.label ?? null };
    }),
  };
}

const nodesOf = (node: ElkNode): readonly ElkNode[] => [node, ...(node.children ?? []).flatMap(nodesOf)];

const boxOf = ({ x = 0, y = 0, width = 0, height = 0 }: ElkNode): Box => ({ x, y, width, height });

const pointsOf = (edge: ElkExtendedEdge | undefined): readonly Point[] =>
  (edge?.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [startPoint, ...bendPoints, endPoint]);

const initialsOf = ({ id, initial, defaults }: ChartState, edges: ReadonlyMap<string, ElkExtendedEdge>) =>
  [...(initial === null ? [] : [initial]), ...defaults].map(
    (target): PlacedInitial => ({ target, points: pointsOf(edges.get(initialIdOf(target, id))) }),
  );

function lineOf(transition: ChartTransition, edges: ReadonlyMap<string, ElkExtendedEdge>): PlacedTransition {
  const edge = edges.get(transition.id);
  const { x = 0, y = 0 } = edge?.labels?.[0] ?? {};
  return {
    id: transition.id,
    points: pointsOf(edge),
    branches:
      transition.targets.length > 1
        ? transition.targets.map((target) => pointsOf(edges.get(branchIdOf(transition.id, target))))
        : [],
    label: labelAt(labelOf(transition), { x, y }),
  };
}

const labelAt = ({ lines, width, height }: Written, { x, y }: Point): PlacedLabel => ({
  x,
  y,
  width,
  height,
  lines: lines.map(({ text }) => text),
  roles: lines.map(({ role }) => role),
});

interface WrittenIn {
  readonly of: 'state' | 'transition';
  readonly id: string;
  readonly label: PlacedLabel;
}

/** The heading of a state, and below it the transitions that stay. */
function writtenIn(chart: Chart, state: ChartState, box: Box): WrittenIn[] {
  if (state.kind === 'history') return [];
  const heading = labelAt(headingOf(state), { x: box.x + padding, y: box.y + padding });
  const written: WrittenIn[] = [{ of: 'state', id: state.id, label: heading }];
  let y = heading.y + heading.height + headingGap;
  for (const transition of stayingOf(chart, state.id)) {
    const label = labelAt(stayingLabelOf(transition), { x: heading.x, y });
    written.push({ of: 'transition', id: transition.id, label });
    y += label.height + headingGap;
  }
  return written;
}
