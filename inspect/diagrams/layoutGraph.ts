/** A chart as the graph that ELK places: states within states, dots, forks, and labels with their sizes. */
import type { ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api.js';
import type { Chart, ChartState, ChartTransition } from './chart.ts';
import { headingOf, labelOf, stayingLabelOf } from './label.ts';

export const padding = 12;
const dot = 10;
const history = 26;

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
export const dotIdOf = (parent: string): string => `(dot)${parent}`;
export const forkIdOf = (transition: string): string => `(fork)${transition}`;
export const branchIdOf = (transition: string, target: string): string => `(branch)${transition}>${target}`;

/** A transition has a line unless it stays where it is. */
export const isStaying = ({ targets }: ChartTransition): boolean => targets.length === 0;

export function stayingOf(chart: Chart, state: string): readonly ChartTransition[] {
  return chart.transitions.filter((transition) => transition.source === state && isStaying(transition));
}

export function elkOf(chart: Chart, direction: 'DOWN' | 'RIGHT'): ElkNode {
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
      'elk.edgeLabels.inline': 'false',
      'elk.padding': '[top=8,left=8,right=8,bottom=8]',
      'elk.randomSeed': '1',
      ...spacing,
    },
    children: [nodeOf(chart, chart.root)],
    edges: [...begins(chart.root), ...chart.transitions.filter((one) => !isStaying(one)).flatMap(edgesOf)],
  };
}

function nodeOf(chart: Chart, state: ChartState): ElkNode {
  if (state.kind === 'history') return { id: state.id, width: history, height: history };
  const { width, height } = headingSizeOf(chart, state);
  if (state.children.length === 0) return { id: state.id, width: width + 2 * padding, height: height + 2 * padding };
  const forks = chart.transitions.filter(({ source, targets }) => source === state.id && targets.length > 1);
  return {
    id: state.id,
    layoutOptions: {
      'elk.padding': `[top=${height + padding + headingGap + 8},left=16,right=16,bottom=16]`,
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': `(${width + 2 * padding},${height + 2 * padding})`,
      ...spacing,
    },
    children: [
      ...(state.initial === null ? [] : [{ id: dotIdOf(state.id), width: dot, height: dot }]),
      ...state.children.map((child) => nodeOf(chart, child)),
      ...forks.map(({ id }) => ({ id: forkIdOf(id), width: 36, height: 6 })),
    ],
  };
}

/** Room for the heading and for the transitions that stay, below each other. */
export function headingSizeOf(chart: Chart, state: ChartState): { readonly width: number; readonly height: number } {
  const heading = headingOf(state);
  const staying = stayingOf(chart, state.id).map(stayingLabelOf);
  return {
    width: Math.max(heading.width, ...staying.map(({ width }) => width)),
    height: staying.reduce((sum, { height }) => sum + height + headingGap, heading.height),
  };
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
