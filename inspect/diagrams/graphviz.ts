/** A chart in the language of Graphviz: states with others in them are clusters, and lines end at their borders. */
import type { Chart, ChartState, ChartTransition } from './chart.ts';
import { nameOfEvent } from './label.ts';

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n')}"`;

const clusterOf = (id: string): string => `cluster ${id}`;
/** A cluster cannot be an end of a line; an unseen node in it can. */
const anchorOf = (id: string): string => `${id} (anchor)`;

const labelOf = ({ event, guard, actions }: ChartTransition): string =>
  [
    nameOfEvent(event),
    ...(guard === null ? [] : [`[${guard}]`]),
    ...(actions.length === 0 ? [] : [`/ ${actions.join(', ')}`]),
  ].join('\n');

export function dotOf(chart: Chart): string {
  const inner = new Set<string>();
  const states = stateLines(chart, chart.root, inner);
  const lines = chart.transitions.flatMap((transition) =>
    transition.targets.map((target) => edgeOf(transition, target, inner)),
  );
  return [
    `digraph ${quoted(chart.kind)} {`,
    '  compound=true; rankdir=TB;',
    '  graph [fontname="Helvetica", fontsize=12]; node [fontname="Helvetica", fontsize=12]; edge [fontname="Helvetica", fontsize=10];',
    ...states.map((line) => `  ${line}`),
    ...lines.map((line) => `  ${line}`),
    '}\n',
  ].join('\n');
}

function edgeOf(transition: ChartTransition, target: string, inner: ReadonlySet<string>): string {
  const { source } = transition;
  const end = (id: string): string => quoted(inner.has(id) ? anchorOf(id) : id);
  const isInward = target.startsWith(`${source}.`);
  const attributes = [
    `label=${quoted(labelOf(transition))}`,
    ...(inner.has(source) && !isInward && target !== source ? [`ltail=${quoted(clusterOf(source))}`] : []),
    ...(inner.has(target) && target !== source ? [`lhead=${quoted(clusterOf(target))}`] : []),
  ];
  return `${end(source)} -> ${end(target)} [${attributes.join(', ')}];`;
}

function stateLines(chart: Chart, state: ChartState, inner: Set<string>): string[] {
  const { id, key, kind, children } = state;
  if (kind === 'history') {
    const label = state.history === 'deep' ? 'H*' : 'H';
    return [`${quoted(id)} [shape=circle, label=${quoted(label)}];`];
  }
  const label = [key, ...saidOf(chart, state)].join('\n');
  if (children.length === 0) {
    const shape = kind === 'final' ? 'peripheries=2, ' : '';
    return [`${quoted(id)} [shape=box, style=rounded, ${shape}label=${quoted(label)}];`];
  }
  inner.add(id);
  const isRegion = chart.root.kind === 'parallel' && chart.root.children.includes(state);
  const dot = `${id} (initial)`;
  const { initial } = state;
  const nested = children.flatMap((child) => stateLines(chart, child, inner));
  const leads = (from: string, target: string, style: readonly string[]): string =>
    inner.has(target)
      ? `${quoted(from)} -> ${quoted(anchorOf(target))} [${[...style, `lhead=${quoted(clusterOf(target))}`].join(', ')}];`
      : `${quoted(from)} -> ${quoted(target)} [${style.join(', ')}];`;
  // Behind the states, because only then it is known which of them are clusters.
  const defaults = children.flatMap((child) =>
    child.defaults.map((target) => leads(child.id, target, ['style=dashed'])),
  );
  const begin = initial === null ? [] : [`${quoted(dot)} [shape=point, width=0.12];`, leads(dot, initial, [])];
  return [
    `subgraph ${quoted(clusterOf(id))} {`,
    ...[
      `label=${quoted(label)}; style="rounded${isRegion ? ',dashed' : ''}";`,
      `${quoted(anchorOf(id))} [shape=point, style=invis];`,
      ...nested,
      ...defaults,
      ...begin,
    ].map((line) => `  ${line}`),
    '}',
  ];
}

const saidOf = (chart: Chart, { id, entry, exit }: ChartState): string[] => [
  ...entry.map((action) => `entry / ${action}`),
  ...exit.map((action) => `exit / ${action}`),
  ...chart.transitions
    .filter(({ source, targets }) => source === id && targets.length === 0)
    .map((transition) => labelOf(transition).replaceAll('\n', ' ')),
];
