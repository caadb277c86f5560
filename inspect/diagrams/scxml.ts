/**
 * A chart as SCXML (W3C recommendation of 2015). Guards are names in `cond`, conditions on other regions `In(…)`; actions
 * are `log`, which every processor has: what they do is not said here, only which they are.
 */
import type { Chart, ChartState, ChartTransition } from './chart.ts';
import type { ChartGuard } from './guards.ts';
import { element, escapeXml } from './xml.ts';

export function scxmlOf(chart: Chart): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" datamodel="ecmascript" name="${escapeXml(chart.kind)}" initial="${escapeXml(chart.root.id)}">`,
    ...stateLines(chart, chart.root, 1),
    '</scxml>\n',
  ].join('\n');
}

function stateLines(chart: Chart, state: ChartState, depth: number): string[] {
  const indent = '  '.repeat(depth);
  const inner = '  '.repeat(depth + 1);
  const { id, kind, initial, history, children } = state;
  const name = kind === 'atomic' || kind === 'compound' ? 'state' : kind;
  const own = chart.transitions.filter(({ source }) => source === id);
  const content = [
    ...described(state).map((line) => inner + line),
    ...handler('onentry', state.entry, inner),
    ...handler('onexit', state.exit, inner),
    ...(kind === 'history' ? [`${inner}${element('transition', { target: targetOf(chart, state) })}`] : []),
    ...own.map((transition) => inner + transitionOf(chart, transition)),
    ...children.flatMap((child) => stateLines(chart, child, depth + 1)),
  ];
  const attributes = { id, initial: initial ?? undefined, type: history ?? undefined };
  if (content.length === 0) return [indent + element(name, attributes)];
  const [open] = element(name, attributes, '').split(`</${name}>`);
  return [`${indent}${open}`, ...content, `${indent}</${name}>`];
}

/** A comment may not hold two hyphens. */
const described = ({ description, tags }: ChartState): string[] =>
  [...(description === null ? [] : [description]), ...(tags.length === 0 ? [] : [`tags: ${tags.join(' ')}`])].map(
    (text) => `<!-- ${escapeXml(text).replace(/--/g, '- -')} -->`,
  );

const actionsOf = (actions: readonly string[]): string[] => actions.map((name) => element('log', { label: name }));

const handler = (name: 'onentry' | 'onexit', actions: readonly string[], indent: string): string[] =>
  actions.length === 0 ? [] : [indent + element(name, {}, actionsOf(actions))];

/** Without a default a history state leads to where its parent begins. */
function targetOf(chart: Chart, state: ChartState): string {
  if (state.defaults.length > 0) return state.defaults.join(' ');
  const parentOf = (from: ChartState): ChartState | undefined =>
    from.children.includes(state) ? from : from.children.map(parentOf).find(Boolean);
  const parent = parentOf(chart.root);
  const inside = (parent?.children ?? []).filter(({ kind }) => kind !== 'history').map(({ id }) => id);
  return parent?.initial ?? inside.join(' ');
}

function transitionOf(chart: Chart, { source, targets, event, condition, actions, reenter }: ChartTransition): string {
  const isInner = targets.length > 0 && targets.every((target) => target.startsWith(`${source}.`));
  const attributes = {
    event: event === '' ? undefined : event.replace(/^xstate\.(done|error)\./, '$1.'),
    cond: condition === null ? undefined : condOf(chart, condition),
    target: targets.length === 0 ? undefined : targets.join(' '),
    type: isInner && !reenter ? 'internal' : undefined,
  };
  return element('transition', attributes, actions.length === 0 ? undefined : actionsOf(actions));
}

export function condOf(chart: Chart, guard: ChartGuard): string {
  switch (guard.is) {
    case 'named': {
      const call = chart.calls[guard.name];
      return call === undefined ? guard.name : `${call.type}(${JSON.stringify(call.params)})`;
    }
    case 'in':
      return guard.state
        .split(' & ')
        .map((state) => `In('${chart.root.id}.${state}')`)
        .join(' && ');
    case 'not':
      return `!(${condOf(chart, guard.of)})`;
    default:
      return guard.of.map((part) => nested(chart, part)).join(guard.is === 'and' ? ' && ' : ' || ');
  }
}

const nested = (chart: Chart, guard: ChartGuard): string =>
  guard.is === 'and' || guard.is === 'or' ? `(${condOf(chart, guard)})` : condOf(chart, guard);
