/**
 * A statechart as data: what every drawing, export and comparison is made of. It is read from the live machine, so what is
 * drawn is what runs. Nothing in it is a function, so it is the same after JSON.
 */
import type { AnyStateNode, AnyTransitionDefinition } from 'xstate';
import type { ActorDefinition } from '../../machines/definition.ts';
import { type ChartGuard, guardOf, leavesOf, textOfGuard } from './guards.ts';

export interface ChartState {
  /** Id of the machine and the path below it: `run.lifecycle.reserved`. */
  readonly id: string;
  readonly key: string;
  readonly kind: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  /** Id of the state that is entered first; null where there is none, or all of them are. */
  readonly initial: string | null;
  readonly history: 'shallow' | 'deep' | null;
  /** Where a history state leads while nothing is remembered. */
  readonly defaults: readonly string[];
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly entry: readonly string[];
  readonly exit: readonly string[];
  readonly children: readonly ChartState[];
}

export interface ChartTransition {
  /** `source#event#n`, n counting from 0 among the choices that the state has for the event. */
  readonly id: string;
  readonly source: string;
  /** Empty for an internal transition, which leaves no state. */
  readonly targets: readonly string[];
  /** Whether the source is left and entered again although a target lies within it. */
  readonly reenter: boolean;
  /** Empty for `always`. */
  readonly event: string;
  /** `a and not b`; null where nothing is asked. */
  readonly guard: string | null;
  /** Names of the guards that are asked, each once. */
  readonly guards: readonly string[];
  readonly condition: ChartGuard | null;
  readonly actions: readonly string[];
  readonly description: string | null;
}

/** What a name with parameters stands for: `enter(status: backlog)` → enter, {status: 'backlog'}. */
export interface ChartCall {
  readonly type: string;
  readonly params: unknown;
}

export interface Chart {
  readonly kind: string;
  readonly version: number;
  readonly hash: string;
  readonly root: ChartState;
  readonly transitions: readonly ChartTransition[];
  readonly calls: Readonly<Record<string, ChartCall>>;
}

export type Charted = Pick<ActorDefinition, 'kind' | 'machine' | 'version' | 'structuralHash'>;

export function chartOf({ kind, machine, version, structuralHash }: Charted): Chart {
  const calls = new Map<string, ChartCall>();
  return {
    kind,
    version,
    hash: structuralHash,
    root: stateOf(machine.root, calls),
    transitions: transitionsOf(machine.root, calls),
    calls: Object.fromEntries(calls),
  };
}

/** Every state of a chart, parents before their children. */
export const statesOf = (state: ChartState): readonly ChartState[] => [state, ...state.children.flatMap(statesOf)];

type Calls = Map<string, ChartCall>;

const idOf = (node: AnyStateNode): string => [node.machine.id, ...node.path].join('.');

function stateOf(node: AnyStateNode, calls: Calls): ChartState {
  const [first] = node.type === 'compound' ? node.initial.target : [];
  return {
    id: idOf(node),
    key: node.key,
    kind: node.type,
    initial: first === undefined ? null : idOf(first),
    history: node.type === 'history' ? node.history || 'shallow' : null,
    defaults: node.type === 'history' ? defaultsOf(node) : [],
    description: node.description ?? null,
    tags: [...node.tags],
    entry: doneIn(node, node.entry, calls),
    exit: doneIn(node, node.exit, calls),
    children: Object.values(node.states).map((child) => stateOf(child, calls)),
  };
}

/** A delayed transition is kept by actions of XState's own, which are not the chart's. */
const doneIn = (node: AnyStateNode, actions: AnyStateNode['entry'], calls: Calls): string[] =>
  actions
    .map((action) => nameOf(action, calls))
    .filter((name) => node.after.length === 0 || !/^xstate\.(raise|cancel)$/.test(name));

function defaultsOf(node: AnyStateNode): string[] {
  const { target } = node.config as { readonly target?: string | readonly string[] };
  const named = target === undefined ? [] : [target].flat();
  return named.map((name) => {
    if (name.startsWith('#')) return idOf(node.machine.getStateNodeById(name.slice(1)));
    const path = name.replace(/^\./, '').split('.');
    let found: AnyStateNode = node.parent as AnyStateNode;
    for (const key of path) found = found.states[key] as AnyStateNode;
    return idOf(found);
  });
}

function transitionsOf(node: AnyStateNode, calls: Calls): ChartTransition[] {
  const always = (node.always ?? []).map((transition, index) => transitionOf(transition, { event: '', index, calls }));
  const others = [...node.transitions.entries()].flatMap(([event, choices]) =>
    choices.map((transition: AnyTransitionDefinition, index: number) =>
      transitionOf(transition, { event, index, calls }),
    ),
  );
  return [...always, ...others, ...Object.values(node.states).flatMap((child) => transitionsOf(child, calls))];
}

interface Place {
  readonly event: string;
  readonly index: number;
  readonly calls: Calls;
}

function transitionOf(transition: AnyTransitionDefinition, { event, index, calls }: Place): ChartTransition {
  const condition = guardOf(transition.guard, (guard) => nameOf(guard, calls));
  const source = idOf(transition.source);
  return {
    id: `${source}#${event}#${index}`,
    source,
    targets: (transition.target ?? []).map(idOf),
    reenter: transition.reenter,
    event,
    guard: condition === null ? null : textOfGuard(condition),
    guards: condition === null ? [] : [...new Set(leavesOf(condition).map((name) => calls.get(name)?.type ?? name))],
    condition,
    actions: transition.actions.map((action) => nameOf(action, calls)),
    description: (transition as { readonly description?: string }).description ?? null,
  };
}

/** Name of an action or guard; with its parameters where it has some. An inline function has the name that it was given. */
function nameOf(called: unknown, calls: Calls): string {
  if (typeof called === 'string') return called;
  if (typeof called === 'function') return (called as { readonly type?: string }).type ?? (called.name || '(inline)');
  const { type, params } = called as { readonly type: string; readonly params?: unknown };
  if (params === undefined) return type;
  if (typeof params === 'function') return `${type}(…)`;
  const name = `${type}(${textOfParams(params)})`;
  calls.set(name, { type, params });
  return name;
}

function textOfParams(params: unknown): string {
  if (typeof params !== 'object' || params === null) return String(params);
  return Object.entries(params)
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}
