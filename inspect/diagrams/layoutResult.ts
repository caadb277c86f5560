/** What ELK has placed, as the places of a chart. */
import type { ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api.js';
import { type Chart, type ChartState, type ChartTransition, statesOf } from './chart.ts';
import { fonts, labelOf, type Written } from './label.ts';
import {
  branchIdOf,
  dotIdOf,
  forkIdOf,
  type Heading,
  headedBy,
  headingIdOf,
  initialIdOf,
  isStaying,
  padding,
} from './layoutGraph.ts';
import { isSeparable } from './layoutRegions.ts';
import type { Box, PlacedChart, PlacedInitial, PlacedLabel, PlacedTransition, Point } from './placed.ts';
import { widthOf } from './text.ts';

export function placedOf(chart: Chart, drawing: ElkNode): PlacedChart {
  const boxes = Object.fromEntries(nodesOf(drawing).map((node) => [node.id, boxOf(node)]));
  const edges = new Map((drawing.edges ?? []).map((edge) => [edge.id, edge]));
  const states = statesOf(chart.root);
  const written = states.flatMap((state) => writtenIn(chart, state, boxes));
  return {
    chart,
    width: Math.ceil(drawing.width ?? 0),
    height: Math.ceil(drawing.height ?? 0),
    states: Object.fromEntries(states.map(({ id }) => [id, boxes[id] as Box])),
    headings: Object.fromEntries(written.filter(({ of }) => of === 'state').map(({ id, label }) => [id, label])),
    initials: states.flatMap((state) => initialsOf(state, { boxes, edges })),
    transitions: chart.transitions.map((transition) => {
      const { id } = transition;
      if (!isStaying(transition)) return lineOf(transition, { boxes, edges });
      return { id, points: [], branches: [], fork: null, label: written.find((one) => one.id === id)?.label ?? null };
    }),
  };
}

const nodesOf = (node: ElkNode): readonly ElkNode[] => [node, ...(node.children ?? []).flatMap(nodesOf)];

const boxOf = ({ x = 0, y = 0, width = 0, height = 0 }: ElkNode): Box => ({ x, y, width, height });

const pointsOf = (edge: ElkExtendedEdge | undefined): readonly Point[] =>
  (edge?.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [startPoint, ...bendPoints, endPoint]);

interface Found {
  readonly boxes: Readonly<Record<string, Box>>;
  readonly edges: ReadonlyMap<string, ElkExtendedEdge>;
}

function initialsOf({ id, initial, defaults }: ChartState, { boxes, edges }: Found): PlacedInitial[] {
  const dot = boxes[dotIdOf(id)];
  const middle = dot === undefined ? null : { x: dot.x + dot.width / 2, y: dot.y + dot.height / 2 };
  return [...(initial === null ? [] : [initial]), ...defaults].map((target) => ({
    target,
    dot: middle,
    points: pointsOf(edges.get(initialIdOf(target, id))),
  }));
}

function lineOf(transition: ChartTransition, { boxes, edges }: Found): PlacedTransition {
  const { id, targets } = transition;
  const edge = edges.get(id);
  const { x = 0, y = 0 } = edge?.labels?.[0] ?? {};
  return {
    id,
    points: pointsOf(edge),
    branches: targets.length > 1 ? targets.map((target) => pointsOf(edges.get(branchIdOf(id, target)))) : [],
    fork: boxes[forkIdOf(id)] ?? null,
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
  widths: lines.map(({ text, role }) => widthOf(text, fonts[role])),
});

interface WrittenIn {
  readonly of: 'state' | 'transition';
  readonly id: string;
  readonly label: PlacedLabel;
}

/** The heading of a state, and below it the transitions that stay. */
function writtenIn(chart: Chart, state: ChartState, boxes: Readonly<Record<string, Box>>): WrittenIn[] {
  if (state.kind === 'history') return [];
  const box = boxes[state.id] as Box;
  const corner = boxes[headingIdOf(state.id)] ?? { x: box.x + padding, y: box.y + padding };
  const { title, blocks } = headingAt(chart, state, boxes);
  return [
    { of: 'state', id: state.id, label: labelAt(title, corner) },
    ...blocks.map(
      ({ transition, x, y, ...written }): WrittenIn => ({
        of: 'transition',
        id: transition.id,
        label: labelAt(written, { x: corner.x + x, y: corner.y + y }),
      }),
    ),
  ];
}

/** In rows or in one column, as it was placed: regions beside each other have one in rows above them. */
function headingAt(chart: Chart, state: ChartState, boxes: Readonly<Record<string, Box>>): Heading {
  const isAbove = state === chart.root && isSeparable(chart);
  const isInRows = isAbove || boxes[headingIdOf(state.id)] !== undefined;
  return headedBy(chart, state, isInRows ? 'DOWN' : 'RIGHT');
}
