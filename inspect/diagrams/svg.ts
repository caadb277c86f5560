/**
 * The drawing of a placed chart: one file that needs nothing else, in the reader's theme. States and transitions are groups
 * that say which they are (`data-state`, `data-transition`), so that a page can light them.
 */
import { type ChartState, type ChartTransition, statesOf } from './chart.ts';
import { lineHeight, nameOfEvent } from './label.ts';
import type { Box, PlacedChart, PlacedInitial, PlacedLabel, PlacedTransition } from './placed.ts';
import { headOf, lineOf } from './svgLine.ts';
import { styleOf } from './svgStyle.ts';
import { element, escapeXml } from './xml.ts';

export type Change = 'added' | 'removed' | 'changed';

export interface SvgOptions {
  /** Ids of the states that the actor is in. */
  readonly active?: ReadonlySet<string>;
  readonly theme?: 'light' | 'dark';
  /** How states and transitions differ from those of another chart, by their ids. */
  readonly changes?: ReadonlyMap<string, Change>;
  readonly title?: string;
}

const dotRadius = 5;

export function svgOf(placed: PlacedChart, options: SvgOptions = {}): string {
  const { chart, width, height } = placed;
  const states = statesOf(chart.root);
  const title = options.title ?? `Statechart of ${chart.kind}, version ${chart.version}`;
  const content = [
    element('title', { id: 'title' }, escapeXml(title)),
    element('desc', { id: 'desc' }, escapeXml(describe(placed))),
    element('style', {}, styleOf(options.theme)),
    element('rect', { class: 'paper', width: '100%', height: '100%' }),
    ...states.map((state) => stateOf(state, placed, options)),
    ...placed.initials.map(initialOf),
    ...chart.transitions.map((transition, index) =>
      transitionOf(transition, placed.transitions[index] as PlacedTransition, options.changes?.get(transition.id)),
    ),
  ];
  return `${element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: 'img',
      'aria-labelledby': 'title desc',
    },
    `\n${content.join('\n')}\n`,
  )}\n`;
}

function describe({ chart }: PlacedChart): string {
  const regions = chart.root.kind === 'parallel' ? ` in ${chart.root.children.length} parallel regions` : '';
  const states = statesOf(chart.root).length - 1;
  return `${states} states${regions} and ${chart.transitions.length} transitions.`;
}

function stateOf(state: ChartState, placed: PlacedChart, { active, changes }: SvgOptions): string {
  const box = placed.states[state.id];
  if (box === undefined) return '';
  const names = classOf(active?.has(state.id) && 'active', changes?.get(state.id));
  return element('g', { 'data-state': state.id, class: names }, [
    element('title', {}, escapeXml([state.id, state.description].filter(Boolean).join('\n'))),
    ...(state.kind === 'history' ? historyOf(state, box) : boxOf(state, placed, box)),
  ]);
}

const classOf = (...names: readonly (string | false | undefined)[]): string | undefined =>
  names.filter(Boolean).join(' ') || undefined;

function boxOf(state: ChartState, { chart, headings }: PlacedChart, { x, y, width, height }: Box): string[] {
  const heading = headings[state.id];
  const isInner = state.children.length > 0;
  const kind = isRegion(chart.root, state.id) ? 'region' : isInner ? 'compound' : state.kind;
  return [
    element('rect', { class: `state ${kind}`, x, y, width, height, rx: isInner ? 10 : 8 }),
    ...(state.kind === 'final'
      ? [element('rect', { class: 'ring', x: x + 3, y: y + 3, width: width - 6, height: height - 6, rx: 6 })]
      : []),
    ...(heading === undefined ? [] : [element('g', { class: 'heading' }, textsOf(heading))]),
  ];
}

const isRegion = (root: ChartState, id: string): boolean =>
  statesOf(root).some(({ kind, children }) => kind === 'parallel' && children.some((child) => child.id === id));

function historyOf({ history }: ChartState, { x, y, width, height }: Box): string[] {
  const [cx, cy] = [x + width / 2, y + height / 2];
  return [
    element('circle', { class: 'state history', cx, cy, r: width / 2 }),
    element('text', { class: 'title', x: cx, y: cy + 5, 'text-anchor': 'middle' }, history === 'deep' ? 'H*' : 'H'),
  ];
}

function initialOf({ target, dot, points }: PlacedInitial): string {
  return element('g', { 'data-initial': target }, [
    ...(dot === null ? [] : [element('circle', { class: 'dot', cx: dot.x, cy: dot.y, r: dotRadius })]),
    lineOf(points, dot === null ? 'line default' : 'line'),
    headOf(points),
  ]);
}

function transitionOf(transition: ChartTransition, placed: PlacedTransition, change: Change | undefined): string {
  const { points, branches, fork, label } = placed;
  const lines = [points, ...branches].filter((line) => line.length > 0);
  return element('g', { 'data-transition': transition.id, class: change }, [
    element('title', {}, escapeXml(sentenceOf(transition))),
    ...lines.map((line) => lineOf(line)),
    ...(fork === null ? [] : [element('rect', { class: 'fork', ...fork, rx: 2 })]),
    ...(branches.length > 0 ? branches : lines).map(headOf),
    ...(label === null ? [] : [element('g', { class: 'label' }, textsOf(label))]),
  ]);
}

function sentenceOf({ source, targets, event, guard, actions, description }: ChartTransition): string {
  const where = targets.length === 0 ? 'stays' : `to ${targets.join(' and ')}`;
  return [
    `${source}: ${nameOfEvent(event)}, ${where}`,
    ...(guard === null ? [] : [`if ${guard}`]),
    ...(actions.length === 0 ? [] : [`does ${actions.join(', ')}`]),
    ...(description === null ? [] : [description]),
  ].join('\n');
}

function textsOf({ x, y, lines, roles, widths }: PlacedLabel): string[] {
  let base = y;
  return lines.map((text, index) => {
    const role = roles[index] ?? 'guard';
    base += lineHeight[role];
    const fitting = { textLength: widths[index] as number, lengthAdjust: 'spacingAndGlyphs' };
    return element('text', { class: role, x: x + 2, y: base - 4, ...fitting }, escapeXml(text));
  });
}
