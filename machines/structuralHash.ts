/**
 * A hash of what a chart does, walked from its StateNodes: `machine.definition` leaves out eventless transitions, history
 * targets and delays. Descriptions do not count, so a better sentence migrates nothing.
 */
import { type AnyStateMachine, type AnyStateNode, type AnyTransitionDefinition, and, not, or, stateIn } from 'xstate';
import { canonicalDigest } from './canonical.ts';

export function structuralHash(machine: AnyStateMachine): string {
  return canonicalDigest(describeNode(machine.root));
}

function describeNode(node: AnyStateNode): unknown {
  return {
    key: node.key,
    type: node.type,
    initial: node.initial ? node.initial.target.map((target: AnyStateNode) => target.id) : null,
    history: node.history || null,
    historyTarget: node.type === 'history' ? (node.config.target ?? null) : undefined,
    tags: [...node.tags].sort(),
    entry: node.entry.map(nameOf),
    exit: node.exit.map(nameOf),
    invoke: node.invoke.map((invoked) => String(invoked.src)),
    always: (node.always ?? []).map(describeTransition),
    transitions: [...node.transitions.entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([type, list]) => [type, list.map(describeTransition)]),
    states: Object.values(node.states).map(describeNode),
  };
}

function describeTransition(transition: AnyTransitionDefinition): unknown {
  return {
    target: (transition.target ?? []).map((target: AnyStateNode) => target.id),
    reenter: transition.reenter,
    guard: describeGuard(transition.guard),
    actions: transition.actions.map(nameOf),
  };
}

/** A guard that XState's `and`, `or`, `not` or `stateIn` has made; it carries its parts. */
export interface CompositeGuard {
  readonly check: unknown;
  readonly guards?: readonly unknown[];
  readonly stateValue?: unknown;
}

const checkOf = (guard: unknown): unknown => (guard as Partial<CompositeGuard>).check;
const combinators = new Map<unknown, 'and' | 'or' | 'not' | 'stateIn'>([
  [checkOf(and([])), 'and'],
  [checkOf(or([])), 'or'],
  [checkOf(not('any')), 'not'],
  [checkOf(stateIn('any')), 'stateIn'],
]);

/**
 * Which combinator made a guard; undefined for any other function. It is told by what the guard checks with, because a
 * bundler renames the function, and neither a hash nor a refusal may depend on how the program was packed.
 */
export const combinatorOf = (guard: unknown) => combinators.get(checkOf(guard));

/** Guards as nested names: `and([a, not(b)])` is a function that carries its parts. */
export function describeGuard(guard: unknown): unknown {
  if (guard === undefined || guard === null) return null;
  if (typeof guard === 'string') return guard;
  if (typeof guard === 'function') {
    const { guards, stateValue } = guard as unknown as CompositeGuard;
    return {
      type: combinatorOf(guard) ?? guard.name,
      ...(guards ? { guards: guards.map(describeGuard) } : {}),
      ...(stateValue === undefined ? {} : { stateValue }),
    };
  }
  const { type, params } = guard as { readonly type: string; readonly params?: unknown };
  return { type, ...(params === undefined || typeof params === 'function' ? {} : { params }) };
}

function nameOf(action: unknown): unknown {
  if (typeof action === 'string') return action;
  if (typeof action === 'function') return (action as { readonly type?: string }).type ?? action.name;
  const { type, params } = action as { readonly type: string; readonly params?: unknown };
  return { type, ...(params === undefined || typeof params === 'function' ? {} : { params }) };
}
