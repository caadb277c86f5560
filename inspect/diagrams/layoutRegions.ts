/** Regions that no transition joins are placed each by itself and then put beside each other, all equally high. */
import type { ElkEdgeSection, ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api.js';
import { type Chart, statesOf } from './chart.ts';
import { headedBy, headingGap, padding } from './layoutGraph.ts';

const gap = 20;
/** Around the regions, px; those of the drawings that they come from are taken off. */
const margin = 8;

/** Whether each region of a parallel machine can be placed without the others. */
export function isSeparable({ root, transitions }: Chart): boolean {
  if (root.kind !== 'parallel') return false;
  const regionOf = new Map(
    root.children.flatMap((region) => statesOf(region).map(({ id }) => [id, region.id] as const)),
  );
  return transitions.every(({ source, targets }) =>
    targets.every((target) => regionOf.has(source) && regionOf.get(source) === regionOf.get(target)),
  );
}

/** One drawing of the whole chart; each of the others has the region as its only child. */
export function sideBySide(chart: Chart, drawings: readonly ElkNode[]): ElkNode {
  const heading = headedBy(chart, chart.root, 'DOWN');
  const top = margin + padding + heading.height + headingGap + 12;
  const height = Math.max(...drawings.map(innerHeight));
  let x = margin + 16;
  const moved = drawings.map((drawing) => {
    const shift = { x: x - margin, y: top - margin };
    x += (drawing.width ?? 0) - 2 * margin + gap;
    return {
      region: stretched(movedNode(drawing.children?.[0] as ElkNode, shift), drawing, height),
      edges: (drawing.edges ?? []).map((edge) => movedEdge(edge, shift)),
    };
  });
  const width = Math.max(x - gap + 16 - margin, heading.width + 2 * padding);
  const root: ElkNode = {
    id: chart.root.id,
    x: margin,
    y: margin,
    width,
    height: top - margin + height + 16,
    children: moved.map(({ region }) => region),
  };
  return {
    id: '(drawing)',
    width: width + 2 * margin,
    height: (root.height ?? 0) + 2 * margin,
    children: [root],
    edges: moved.flatMap(({ edges }) => edges),
  };
}

const innerHeight = ({ height = 0 }: ElkNode): number => height - 2 * margin;

/** Unless a line leads around it: that would no longer end at its border. */
function stretched(region: ElkNode, drawing: ElkNode, height: number): ElkNode {
  const isAlone = Math.abs((region.height ?? 0) - innerHeight(drawing)) < 1;
  return isAlone ? { ...region, height } : region;
}

interface Shift {
  readonly x: number;
  readonly y: number;
}

const movedPoint = <Placed extends { readonly x?: number; readonly y?: number }>(placed: Placed, by: Shift) => ({
  ...placed,
  x: (placed.x ?? 0) + by.x,
  y: (placed.y ?? 0) + by.y,
});

function movedNode(node: ElkNode, by: Shift): ElkNode {
  const { children } = node;
  return { ...movedPoint(node, by), ...(children && { children: children.map((child) => movedNode(child, by)) }) };
}

function movedEdge(edge: ElkExtendedEdge, by: Shift): ElkExtendedEdge {
  const { sections = [], labels = [] } = edge;
  return {
    ...edge,
    sections: sections.map((section) => movedSection(section, by)),
    labels: labels.map((label) => movedPoint(label, by)),
  };
}

const movedSection = (section: ElkEdgeSection, by: Shift): ElkEdgeSection => ({
  ...section,
  startPoint: movedPoint(section.startPoint, by),
  endPoint: movedPoint(section.endPoint, by),
  bendPoints: (section.bendPoints ?? []).map((point) => movedPoint(point, by)),
});
