/** A chart as the graph that ELK places: states within states, dots, forks, and labels with their sizes. */
import type { ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api.js';
import { type Chart, type ChartState, type ChartTransition, statesOf } from './chart.ts';
import { headingOf, labelOf, stayingLabelOf, type Written } from './label.ts';

export const padding = 12;
const dot = 10;
const history = 26;
const portDistance = 11;
const first = { 'elk.layered.layering.layerConstraint': 'FIRST' };

/** Between heading and children, or between heading and what is written below it, px. */
export const headingGap = 8;

const spacing = {
  'elk.spacing.nodeNode': '24',
  'elk.spacing.edgeNode': '16',
  'elk.spacing.edgeEdge': '12',
  'elk.spacing.edgeLabel': '4',
  'elk.spacing.labelNode': '8',
  'elk.spacing.labelLabel': '8',
  'elk.spacing.nodeSelfLoop': '14',
  'elk.layered.spacing.nodeNodeBetweenLayers': '28',
  'elk.layered.spacing.edgeNodeBetweenLayers': '14',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '12',
};

export const initialIdOf = (target: string, parent: string): string => `(initial)${parent}>${target}`;
export const headingIdOf = (state: string): string => `(heading)${state}`;
export const dotIdOf = (parent: string): string => `(dot)${parent}`;
export const forkIdOf = (transition: string): string => `(fork)${transition}`;
export const branchIdOf = (transition: string, target: string): string => `(branch)${transition}>${target}`;

/** A transition has a line unless it stays where it is. */
export const isStaying = ({ targets }: ChartTransition): boolean => targets.length === 0;

export type Direction = 'DOWN' | 'RIGHT';

/** The graph of a state with everything below it. */
export function elkOf(chart: Chart, state: ChartState, direction: Direction): ElkNode {
  const within = new Set(statesOf(state).map(({ id }) => id));
  return {
    id: '(drawing)',
    layoutOptions: {
      'elk.algorithm': 'layered',
      'elk.direction': direction,
      'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
      'elk.json.edgeCoords': 'ROOT',
      'elk.json.shapeCoords': 'ROOT',
      'elk.edgeRouting': 'ORTHOGONAL',
      'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF',
      'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
      // What leads back to an earlier state is drawn backwards, so that a chart reads in the order that it is written in.
      'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
      'elk.edgeLabels.inline': 'false',
      'elk.padding': '[top=8,left=8,right=8,bottom=8]',
      'elk.randomSeed': '1',
      ...spacing,
    },
    children: [nodeOf(chart, state, direction)],
    edges: [
      ...begins(state),
      ...chart.transitions.filter((one) => !isStaying(one) && within.has(one.source)).flatMap(edgesOf),
    ],
  };
}

function nodeOf(chart: Chart, state: ChartState, direction: Direction): ElkNode {
  const { id } = state;
  if (state.kind === 'history') return { id, width: history, height: history };
  const { width, height } = headedBy(chart, state, direction);
  if (state.children.length === 0) {
    const room = roomForLines(chart, id);
    const broad = direction === 'DOWN' ? room : 0;
    const high = direction === 'RIGHT' ? room : 0;
    return { id, width: Math.max(width + 2 * padding, broad), height: Math.max(height + 2 * padding, high) };
  }
  const forks = chart.transitions.filter(
    ({ source, targets }) => targets.length > 1 && state.children.some((child) => child.id === source),
  );
  // Lines come from above where a chart is drawn downwards: a heading is a state of its own to ELK then, so that none is
  // led through it. From left to right none comes near it.
  const isNode = direction === 'DOWN';
  const top = isNode ? padding : height + padding + headingGap + 8;
  return {
    id,
    layoutOptions: { 'elk.padding': `[top=${top},left=${padding},right=16,bottom=16]`, ...spacing },
    children: [
      ...(isNode ? [{ id: headingIdOf(id), width, height, layoutOptions: first }] : []),
      ...(state.initial === null ? [] : [{ id: dotIdOf(id), width: dot, height: dot, layoutOptions: first }]),
      ...state.children.map((child) => nodeOf(chart, child, direction)),
      ...forks.map((fork) => ({ id: forkIdOf(fork.id), width: 36, height: 6 })),
    ],
  };
}

/** So that lines which end at one side of a state can be told apart, px. */
function roomForLines({ transitions }: Chart, state: string): number {
  const leaving = transitions.filter(({ source, targets }) => source === state && targets.length > 0).length;
  const entering = transitions.filter(({ targets }) => targets.includes(state)).length;
  return Math.max(leaving, entering) * portDistance + 2 * padding;
}

/** Widest row of transitions that stay, in a state with others below them, px. */
const rowWidth: Readonly<Record<Direction, number>> = { DOWN: 620, RIGHT: 0 };
const columnGap = 24;

export interface Block extends Written {
  readonly transition: ChartTransition;
  /** From the corner of the heading, px. */
  readonly x: number;
  readonly y: number;
}

export interface Heading {
  readonly title: Written;
  readonly blocks: readonly Block[];
  readonly width: number;
  readonly height: number;
}

/**
 * The heading of a state with the transitions that stay: below each other, and in rows where there are states below them,
 * which are broad.
 */
export function headedBy(chart: Chart, state: ChartState, direction: Direction): Heading {
  const title = headingOf(state);
  const staying = chart.transitions.filter((transition) => transition.source === state.id && isStaying(transition));
  const blocks: Block[] = [];
  let place = { x: 0, y: title.height + headingGap, bottom: title.height };
  for (const transition of staying) {
    const written = stayingLabelOf(transition);
    const isFull = state.children.length === 0 || place.x + written.width > rowWidth[direction];
    if (isFull && place.bottom > place.y) place = { x: 0, y: place.bottom + headingGap, bottom: 0 };
    blocks.push({ ...written, transition, x: place.x, y: place.y });
    place = {
      ...place,
      x: place.x + written.width + columnGap,
      bottom: Math.max(place.bottom, place.y + written.height),
    };
  }
  return {
    title,
    blocks,
    width: Math.max(title.width, ...blocks.map(({ x, width }) => x + width)),
    height: Math.max(title.height, ...blocks.map(({ y, height }) => y + height)),
  };
}

/** Whether every heading has room in its state. */
export function hasRoom(chart: Chart, drawing: ElkNode): boolean {
  const states = new Map(statesOf(chart.root).map((state) => [state.id, state]));
  const isBroadEnough = (node: ElkNode): boolean => {
    const state = states.get(node.id);
    const isHeaded = state === undefined || (node.children ?? []).some(({ id }) => id === headingIdOf(node.id));
    if (isHeaded || state.children.length === 0) return (node.children ?? []).every(isBroadEnough);
    const { width } = headedBy(chart, state, 'RIGHT');
    return width + 2 * padding <= (node.width ?? 0) && (node.children ?? []).every(isBroadEnough);
  };
  return isBroadEnough(drawing);
}

const begins = (state: ChartState): ElkExtendedEdge[] => [
  ...(state.initial === null
    ? []
    : [{ id: initialIdOf(state.initial, state.id), sources: [dotIdOf(state.id)], targets: [state.initial] }]),
  ...state.defaults.map((target) => ({ id: initialIdOf(target, state.id), sources: [state.id], targets: [target] })),
  ...state.children.flatMap(begins),
];

function edgesOf(transition: ChartTransition): ElkExtendedEdge[] {
  const { id, source, targets } = transition;
  const { width, height, lines } = labelOf(transition);
  const labels = [{ text: lines.map(({ text }) => text).join('\n'), width, height }];
  if (targets.length === 1) return [{ id, sources: [source], targets: [...targets], labels }];
  const fork = forkIdOf(id);
  return [
    { id, sources: [source], targets: [fork], labels },
    ...targets.map((target) => ({ id: branchIdOf(id, target), sources: [fork], targets: [target] })),
  ];
}
