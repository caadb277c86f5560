/** Where things lie in a placed chart, for tests. */
import { type ChartState, statesOf } from '../../../inspect/diagrams/chart.ts';
import type { Box, PlacedChart, PlacedLabel, Point } from '../../../inspect/diagrams/placed.ts';

/** Rounding of the places, px. */
const slack = 1;

export const overlap = (a: Box, b: Box): boolean =>
  a.x + a.width > b.x + slack &&
  b.x + b.width > a.x + slack &&
  a.y + a.height > b.y + slack &&
  b.y + b.height > a.y + slack;

export const contains = (outer: Box, inner: Box): boolean =>
  inner.x >= outer.x - slack &&
  inner.y >= outer.y - slack &&
  inner.x + inner.width <= outer.x + outer.width + slack &&
  inner.y + inner.height <= outer.y + outer.height + slack;

export function isOnBorder({ x, y }: Point, box: Box): boolean {
  const right = box.x + box.width;
  const bottom = box.y + box.height;
  const isWithinX = x >= box.x - slack && x <= right + slack;
  const isWithinY = y >= box.y - slack && y <= bottom + slack;
  const isAtX = Math.abs(x - box.x) <= slack || Math.abs(x - right) <= slack;
  const isAtY = Math.abs(y - box.y) <= slack || Math.abs(y - bottom) <= slack;
  return (isAtX && isWithinY) || (isAtY && isWithinX);
}

/** Whether a line runs through a box; lines go straight across or straight down. */
export function runsThrough(points: readonly Point[], box: Box): boolean {
  return points.some((point, index) => {
    const next = points[index + 1];
    if (next === undefined) return false;
    const covered = {
      x: Math.min(point.x, next.x) - 0.5,
      y: Math.min(point.y, next.y) - 0.5,
      width: Math.abs(point.x - next.x) + 1,
      height: Math.abs(point.y - next.y) + 1,
    };
    return overlap(covered, { x: box.x + 1, y: box.y + 1, width: box.width - 2, height: box.height - 2 });
  });
}

export interface Named {
  readonly name: string;
  readonly label: PlacedLabel;
}

export const labelsOf = ({ headings, transitions }: PlacedChart): readonly Named[] => [
  ...Object.entries(headings).map(([name, label]) => ({ name, label })),
  ...transitions.flatMap(({ id, label }) => (label === null ? [] : [{ name: id, label }])),
];

/** What is wrong with a placed chart, in words; nothing for a good one. */
export function faultsOf(placed: PlacedChart): string[] {
  return [...labelFaults(placed), ...lineFaults(placed), ...nesting(placed, placed.chart.root)];
}

function labelFaults(placed: PlacedChart): string[] {
  const labels = labelsOf(placed);
  const lines = linesOf(placed);
  return labels.flatMap(({ name, label }, index) => [
    ...labels
      .slice(index + 1)
      .filter((other) => overlap(label, other.label))
      .map((other) => `${name} is written over ${other.name}`),
    ...Object.entries(placed.states)
      .filter(([, box]) => overlap(label, box) && !contains(box, label))
      .map(([id]) => `${name} is written across the border of ${id}`),
    ...Object.entries(placed.states)
      .filter(([id, box]) => overlap(label, box) && !isAround(placed, id, name))
      .map(([id]) => `${name} is written into ${id}`),
    ...lines.filter(({ points }) => runsThrough(points, label)).map((line) => `${line.name} runs through ${name}`),
  ]);
}

/** Whether the label may be in the state: what is said of the state itself, or of a line that begins or ends within it. */
function isAround({ chart }: PlacedChart, state: string, label: string): boolean {
  const transition = chart.transitions.find(({ id }) => id === label);
  if (transition === undefined || transition.targets.length === 0) {
    const owner = transition?.source ?? label;
    return owner === state || owner.startsWith(`${state}.`);
  }
  const isInner = statesOf(chart.root).some(({ id, children }) => id === state && children.length > 0);
  const ends = [transition.source, ...transition.targets];
  return isInner && ends.some((end) => end === state || end.startsWith(`${state}.`));
}

const linesOf = ({ transitions, initials }: PlacedChart) => [
  ...transitions.flatMap(({ id, points, branches }) =>
    [points, ...branches].map((line) => ({ name: id, points: line })),
  ),
  ...initials.map(({ target, points }) => ({ name: `begin ${target}`, points })),
];

function lineFaults({ chart, states, transitions, initials }: PlacedChart): string[] {
  const drawn = transitions.map(({ id }) => id);
  const expected = chart.transitions.map(({ id }) => id);
  if (drawn.join() !== expected.join() || new Set(drawn).size < drawn.length) return ['not every transition once'];
  const ends = chart.transitions.flatMap(({ id, source, targets }, index) => {
    const { points, branches, fork, label } = transitions[index] as PlacedChart['transitions'][number];
    if (targets.length === 0) {
      const isInside = points.length === 0 && label !== null && contains(states[source] as Box, label);
      return isInside ? [] : [`${id} is not written in its state`];
    }
    const last = targets.length === 1 ? [points] : branches;
    return [
      ...(isOnBorder(points[0] as Point, states[source] as Box) ? [] : [`${id} does not begin at its source`]),
      ...targets
        .filter((target, at) => !isOnBorder(last[at]?.at(-1) as Point, states[target] as Box))
        .map((target) => `${id} does not end at ${target}`),
      ...((fork !== null) === targets.length > 1 ? [] : [`${id} forks wrongly`]),
    ];
  });
  return [
    ...ends,
    ...initials
      .filter(({ target, points }) => !isOnBorder(points.at(-1) as Point, states[target] as Box))
      .map(({ target }) => `the beginning does not lead to ${target}`),
  ];
}

function nesting({ states, ...rest }: PlacedChart, state: ChartState): string[] {
  const box = states[state.id] as Box;
  const boxes = state.children.map(({ id }) => ({ id, box: states[id] as Box }));
  return [
    ...boxes.filter((child) => !contains(box, child.box)).map(({ id }) => `${id} lies outside of ${state.id}`),
    ...boxes.flatMap((one, index) =>
      boxes
        .slice(index + 1)
        .filter((other) => overlap(one.box, other.box))
        .map((other) => `${one.id} lies over ${other.id}`),
    ),
    ...state.children.flatMap((child) => nesting({ states, ...rest }, child)),
  ];
}
