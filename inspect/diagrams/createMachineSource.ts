/**
 * A chart as XState source that Stately Studio and the visualizers open. Guards and actions are names without what they do;
 * a condition that is put together has the name that it is drawn with, and is put together from its parts again.
 */
import { type Chart, type ChartState, type ChartTransition, statesOf } from './chart.ts';
import { type ChartGuard, leavesOf } from './guards.ts';

interface Written {
  readonly [key: string]: unknown;
}

/** For version 5, and with it Stately Studio. */
export function createMachineSource(chart: Chart): string {
  const combined = chart.transitions.flatMap(({ guard, condition }) =>
    guard === null || condition === null || condition.is === 'named' ? [] : [[guard, condition] as const],
  );
  const guards = [
    ...leafGuards(chart).map((name) => `    ${keyOf(name)}: () => true,`),
    ...[...new Map(combined)].map(([name, condition]) => `    ${keyOf(name)}: ${sourceOf(chart, condition)},`),
  ];
  return [
    ...header(chart),
    "import { and, not, or, setup, stateIn } from 'xstate';",
    '',
    `export const ${chart.kind}Machine = setup({`,
    '  guards: {',
    ...guards,
    '  },',
    '  actions: {',
    ...actionNames(chart).map((name) => `    ${keyOf(name)}: () => {},`),
    '  },',
    `}).createMachine(${print(stateConfig(chart, chart.root, 'guard'))});\n`,
  ].join('\n');
}

/** For version 4, which the classic visualizer runs: there a guard is `cond`, and always a function. */
export function createMachine4Source(chart: Chart): string {
  const guards = [...new Set(chart.transitions.flatMap(({ guard }) => (guard === null ? [] : [guard])))];
  return [
    ...header(chart),
    "import { createMachine } from 'xstate';",
    '',
    `export const ${chart.kind}Machine = createMachine(${print({ predictableActionArguments: true, ...stateConfig(chart, chart.root, 'cond') })}, {`,
    '  guards: {',
    ...guards.map((name) => `    ${keyOf(name)}: () => true,`),
    '  },',
    '  actions: {',
    ...actionNames(chart).map((name) => `    ${keyOf(name)}: () => {},`),
    '  },',
    '});\n',
  ].join('\n');
}

const header = ({ kind, version, hash }: Chart): string[] => [
  `// The chart of ${kind}, version ${version}, as the program runs it (structural hash ${hash}).`,
  '// Only its structure: what the guards ask and what the actions do is in the program.',
];

const leafGuards = (chart: Chart): string[] => [
  ...new Set(
    chart.transitions.flatMap(({ condition }) =>
      condition === null ? [] : leavesOf(condition).map((name) => chart.calls[name]?.type ?? name),
    ),
  ),
];

function actionNames({ root, transitions, calls }: Chart): string[] {
  const used = [
    ...statesOf(root).flatMap(({ entry, exit }) => [...entry, ...exit]),
    ...transitions.flatMap(({ actions }) => actions),
  ];
  return [...new Set(used.map((name) => calls[name]?.type ?? name))];
}

function stateConfig(chart: Chart, state: ChartState, guardKey: 'guard' | 'cond'): Written {
  const { id, key, kind, initial, children } = state;
  const own = chart.transitions.filter(({ source }) => source === id);
  const config = (transition: ChartTransition): Written => transitionConfig(chart, transition, guardKey);
  const choices = (event: (transition: ChartTransition) => string | undefined): Written | undefined => {
    const named = own.flatMap((transition) => {
      const name = event(transition);
      return name === undefined ? [] : [[name, config(transition)] as const];
    });
    return named.length === 0 ? undefined : grouped(named);
  };
  return {
    ...(state === chart.root ? { id: key } : {}),
    ...(kind === 'atomic' || kind === 'compound' ? {} : { type: kind }),
    ...(state.history === 'deep' ? { history: 'deep' } : {}),
    ...(state.defaults.length > 0 ? { target: state.defaults.map((target) => `#${target}`).join() } : {}),
    ...(initial === null ? {} : { initial: initial.slice(id.length + 1) }),
    ...(state.description === null ? {} : { description: state.description }),
    ...(state.tags.length === 0 ? {} : { tags: state.tags }),
    ...(state.entry.length === 0 ? {} : { entry: state.entry.map((name) => called(chart, name)) }),
    ...(state.exit.length === 0 ? {} : { exit: state.exit.map((name) => called(chart, name)) }),
    always: choices(({ event }) => (event === '' ? 'all' : undefined))?.all,
    onDone: choices(({ event }) => (event.startsWith('xstate.done.state.') ? 'all' : undefined))?.all,
    after: choices(({ event }) => /^xstate\.after\.(\d+)\./.exec(event)?.[1]),
    on: choices(({ event }) => (event === '' || /^xstate\.(after|done\.state)\./.test(event) ? undefined : event)),
    ...(children.length === 0
      ? {}
      : { states: Object.fromEntries(children.map((child) => [child.key, stateConfig(chart, child, guardKey)])) }),
  };
}

/** Choices for the same event in a list, a single one by itself. */
function grouped(named: readonly (readonly [string, Written])[]): Written {
  const lists = new Map<string, Written[]>();
  for (const [name, config] of named) lists.set(name, [...(lists.get(name) ?? []), config]);
  return Object.fromEntries([...lists].map(([name, list]) => [name, list.length === 1 ? list[0] : list]));
}

function transitionConfig(chart: Chart, transition: ChartTransition, guardKey: 'guard' | 'cond'): Written {
  const { targets, guard, actions, reenter, description } = transition;
  const absolute = targets.map((target) => `#${target}`);
  return {
    ...(guard === null ? {} : { [guardKey]: called(chart, guard) }),
    ...(absolute.length === 0 ? {} : { target: absolute.length === 1 ? absolute[0] : absolute }),
    ...(actions.length === 0 ? {} : { actions: actions.map((name) => called(chart, name)) }),
    ...(reenter && targets.length > 0 ? (guardKey === 'guard' ? { reenter } : { internal: false }) : {}),
    ...(description === null ? {} : { description }),
  };
}

const called = ({ calls }: Chart, name: string): unknown => calls[name] ?? name;

function sourceOf(chart: Chart, guard: ChartGuard): string {
  switch (guard.is) {
    case 'named':
      return print(called(chart, guard.name), 2);
    case 'in':
      return `stateIn(${print(guard.value, 2)})`;
    case 'not':
      return `not(${sourceOf(chart, guard.of)})`;
    default:
      return `${guard.is}([${guard.of.map((part) => sourceOf(chart, part)).join(', ')}])`;
  }
}

const keyOf = (key: string): string => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key));

const quoted = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

/** As source: keys without quotes where they need none, and short things in one line. */
function print(value: unknown, depth = 0): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const isList = Array.isArray(value);
  const parts = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .map(([key, inner]) => (isList ? print(inner, depth + 1) : `${keyOf(key)}: ${print(inner, depth + 1)}`));
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  const pad = isList ? '' : ' ';
  const line = parts.length === 0 ? open + close : `${open}${pad}${parts.join(', ')}${pad}${close}`;
  if (line.length + 2 * depth <= 110 && !line.includes('\n')) return line;
  const indent = '  '.repeat(depth + 1);
  return `${open}\n${parts.map((part) => `${indent}${part},\n`).join('')}${'  '.repeat(depth)}${close}`;
}
