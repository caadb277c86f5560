/** The chart's own side of the comparison: its StateNodes, read into the same shapes that a table is written in. */
import { type AnyStateMachine, type AnyStateNode, and, not, or, stateIn } from 'xstate';
import type { GuardTerm, Row, StateEntry } from './table.ts';

export function nodesOf(machine: AnyStateMachine): AnyStateNode[] {
  const below = (node: AnyStateNode): AnyStateNode[] => [node, ...Object.values(node.states).flatMap(below)];
  return below(machine.root);
}

export const pathOf = (node: AnyStateNode): string => node.path.join('.');

export function statesOf(machine: AnyStateMachine): Record<string, StateEntry> {
  return Object.fromEntries(
    nodesOf(machine).map((node) => {
      const initial = node.type === 'compound' ? node.initial.target.map((target) => target.key)[0] : undefined;
      return [
        pathOf(node),
        {
          ...(initial === undefined ? {} : { initial }),
          ...(node.tags.length === 0 ? {} : { tags: [...node.tags].sort() }),
          ...(node.entry.length === 0 ? {} : { entry: node.entry.map(actionName) }),
          ...(node.type === 'parallel' ? { parallel: true as const } : {}),
        },
      ];
    }),
  );
}

export function rowsOf(machine: AnyStateMachine): Row[] {
  return nodesOf(machine).flatMap((node) =>
    [...node.transitions.entries()].flatMap(([event, transitions]) =>
      transitions.map((transition) => ({
        from: pathOf(node),
        event,
        guards: transition.guard === undefined ? [] : [termOf(transition.guard)],
        to: transition.target === undefined ? null : transition.target.map(pathOf).join(' + '),
        actions: transition.actions.map(actionName),
      })),
    ),
  );
}

export const actionName = (action: unknown): string =>
  typeof action === 'string' ? action : String((action as { type?: unknown; name?: unknown }).type ?? action);

interface Composite {
  readonly check: unknown;
  readonly guards?: readonly unknown[];
  readonly stateValue?: unknown;
}

const checkOf = (guard: unknown): unknown => (guard as Composite).check;
const checks = { and: checkOf(and([])), or: checkOf(or([])), not: checkOf(not('any')), in: checkOf(stateIn('any')) };

/** Bundlers rename the functions that XState returns, so a composite is recognised by what it checks with. */
export function termOf(guard: unknown): GuardTerm {
  if (typeof guard === 'string') return guard;
  if (typeof guard !== 'function') return (guard as { readonly type: string }).type;
  const { check, guards = [], stateValue } = guard as unknown as Composite;
  if (check === checks.in) return { in: statePath(stateValue) };
  if (check === checks.not) return { not: termOf(guards[0]) };
  if (check === checks.and) return { and: guards.map(termOf) };
  if (check === checks.or) return { or: guards.map(termOf) };
  throw new Error(`${guard.name || 'an inline function'} is no named guard`);
}

function statePath(value: unknown): string {
  if (typeof value === 'string') return value;
  return Object.entries(value as Record<string, unknown>)
    .map(([region, state]) => `${region}.${statePath(state)}`)
    .join(' + ');
}

/** The active leaves of a state value as dotted paths, sorted. */
export function leavesOf(value: unknown, prefix = ''): string[] {
  if (typeof value === 'string') return [prefix + value];
  return Object.entries(value as Record<string, unknown>)
    .flatMap(([region, state]) => leavesOf(state, `${prefix}${region}.`))
    .sort();
}

/** Without brackets that change nothing: nested conjunctions are one, and the order of parts does not count. */
export function flatten(term: GuardTerm): GuardTerm {
  if (typeof term === 'string' || 'in' in term) return term;
  if ('not' in term) return { not: flatten(term.not) };
  const isAnd = 'and' in term;
  const parts = (isAnd ? term.and : term.or).map(flatten).flatMap((part) => {
    if (typeof part === 'string') return [part];
    if (isAnd && 'and' in part) return part.and;
    return !isAnd && 'or' in part ? part.or : [part];
  });
  const sorted = [...parts].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (sorted.length === 1) return sorted[0] as GuardTerm;
  return isAnd ? { and: sorted } : { or: sorted };
}
