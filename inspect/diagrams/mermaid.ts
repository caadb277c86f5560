/**
 * A chart as a Mermaid state diagram, which forges show within pages. Mermaid knows no line from a state into itself, no
 * history and no transition that stays: those begin at a state `any`, are a state named H, and are lines of their state.
 * Regions are states in one that says so: behind the dividers of Mermaid they have no names, and a line to a state with
 * others in it, two below a divider, cannot be laid out (11.17).
 */
import { type Chart, type ChartState, type ChartTransition, statesOf } from './chart.ts';
import { nameOfEvent } from './label.ts';

/** A name that Mermaid takes for a state: `run.lifecycle` → run_lifecycle. */
const nameOf = (id: string): string => id.replace(/[^\w]/g, '_');

const anyOf = (id: string): string => `${nameOf(id)}__any`;

/** Colons, semicolons, quotes, angle brackets and number signs mean something to Mermaid. */
const plain = (text: string): string =>
  text.replace(/: /g, '=').replace(/[:;#"<>{}\n]/g, (sign) => (sign === '"' ? "'" : ' '));

export const textOf = ({ event, guard, actions }: ChartTransition): string =>
  plain(
    [
      nameOfEvent(event),
      ...(guard === null ? [] : [`[${guard}]`]),
      ...(actions.length === 0 ? [] : [`/ ${actions.join(', ')}`]),
    ].join(' '),
  );

export function mermaidOf(chart: Chart): string {
  const lines = ['stateDiagram-v2', ...stateLines(chart, chart.root, 1)];
  for (const transition of chart.transitions.filter(({ targets }) => targets.length > 0)) {
    for (const target of transition.targets) {
      const isInward = target.startsWith(`${transition.source}.`);
      const from = isInward ? anyOf(transition.source) : nameOf(transition.source);
      lines.push(`  ${from} --> ${nameOf(target)} : ${textOf(transition)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function stateLines(chart: Chart, state: ChartState, depth: number): string[] {
  const indent = '  '.repeat(depth);
  const name = nameOf(state.id);
  const label = labelOf(state);
  const own = [
    `${indent}state "${label}" as ${name}`,
    ...saidOf(chart, state).map((text) => `${indent}${name} : ${text}`),
  ];
  if (state.children.length === 0) return [...own, ...(state.kind === 'final' ? [`${indent}${name} --> [*]`] : [])];
  return [`${indent}state "${label}" as ${name} {`, ...within(chart, state, depth + 1), `${indent}}`];
}

function labelOf({ key, kind, history }: ChartState): string {
  if (kind === 'history') return history === 'deep' ? 'H*' : 'H';
  return kind === 'parallel' ? `${plain(key)} (all of these at once)` : plain(key);
}

function within(chart: Chart, state: ChartState, depth: number): string[] {
  const indent = '  '.repeat(depth);
  const said = saidOf(chart, state);
  const isInward = ({ source, targets }: ChartTransition): boolean =>
    source === state.id && targets.some((target) => target.startsWith(`${source}.`));
  const any = anyOf(state.id);
  return [
    ...(said.length > 0 || chart.transitions.some(isInward)
      ? [`${indent}state "any of ${plain(state.key)}" as ${any}`]
      : []),
    ...said.map((text) => `${indent}${any} : ${text}`),
    ...(state.initial === null ? [] : [`${indent}[*] --> ${nameOf(state.initial)}`]),
    ...state.children.flatMap((child) => stateLines(chart, child, depth)),
    ...state.children.flatMap((child) =>
      child.defaults.map((target) => `${indent}${nameOf(child.id)} --> ${nameOf(target)}`),
    ),
  ];
}

/** What is done on the way in and out, and what is done without leaving. */
const saidOf = (chart: Chart, { id, entry, exit }: ChartState): string[] => [
  ...entry.map((action) => `entry / ${plain(action)}`),
  ...exit.map((action) => `exit / ${plain(action)}`),
  ...chart.transitions.filter(({ source, targets }) => source === id && targets.length === 0).map(textOf),
];

/** Names of all states, as they stand in the diagram. */
export const mermaidNames = ({ root }: Chart): ReadonlyMap<string, string> =>
  new Map(statesOf(root).map(({ id }) => [id, nameOf(id)]));
