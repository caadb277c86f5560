/** Conditions of transitions as data and as text: `and`, `or`, `not` and `stateIn` are functions that carry their parts. */
import { type CompositeGuard, combinatorOf } from '../../machines/structuralHash.ts';

export type ChartGuard =
  | { readonly is: 'named'; readonly name: string }
  /** Whether another region is in this state, by its path below the machine: `workflow.active.review`. */
  | { readonly is: 'in'; readonly state: string; readonly value: unknown }
  | { readonly is: 'not'; readonly of: ChartGuard }
  | { readonly is: 'and' | 'or'; readonly of: readonly ChartGuard[] };

export function guardOf(guard: unknown, nameOf: (guard: unknown) => string): ChartGuard | null {
  if (guard === undefined || guard === null) return null;
  const made = typeof guard === 'function' ? combinatorOf(guard) : undefined;
  if (made === undefined) return { is: 'named', name: nameOf(guard) };
  const { guards = [], stateValue } = guard as unknown as CompositeGuard;
  if (made === 'stateIn') return { is: 'in', state: pathsOf(stateValue).join(' & '), value: stateValue };
  const parts = guards.map((part) => guardOf(part, nameOf) as ChartGuard);
  return made === 'not' ? { is: 'not', of: parts[0] as ChartGuard } : { is: made, of: parts };
}

/** `{a: {b: 'c'}}` → a.b.c */
function pathsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value.replace(/^#/, '')];
  return Object.entries(value as object).flatMap(([key, inner]) => {
    const below = pathsOf(inner);
    return below.length === 0 ? [key] : below.map((path) => `${key}.${path}`);
  });
}

/** The names that a condition asks for, in their order; states of other regions are not among them. */
export function leavesOf(guard: ChartGuard): readonly string[] {
  if (guard.is === 'named') return [guard.name];
  if (guard.is === 'in') return [];
  return guard.is === 'not' ? leavesOf(guard.of) : guard.of.flatMap(leavesOf);
}

/** The condition in words, with as few parentheses as it can be read with. */
export function textOfGuard(guard: ChartGuard): string {
  switch (guard.is) {
    case 'named':
      return guard.name;
    case 'in':
      return `in ${guard.state}`;
    case 'not':
      return `not ${isJoined(guard.of) ? `(${textOfGuard(guard.of)})` : textOfGuard(guard.of)}`;
    default:
      return guard.of.map((part) => partOf(part, guard.is)).join(` ${guard.is} `);
  }
}

const isJoined = (guard: ChartGuard): guard is Extract<ChartGuard, { readonly is: 'and' | 'or' }> =>
  guard.is === 'and' || guard.is === 'or';

/** `and` within `and` reads on; what is joined otherwise stands in parentheses. */
const partOf = (part: ChartGuard, within: 'and' | 'or'): string =>
  isJoined(part) && part.is !== within && part.of.length > 1 ? `(${textOfGuard(part)})` : textOfGuard(part);
