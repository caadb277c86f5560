/**
 * A chart written down a second time, as data: the rows of the protocol, and what each guard means in words of the
 * author's own ("facts"). The walk in walk.ts plays both against each other, so that a slip in one of them shows.
 */
import type { AnyStateMachine } from 'xstate';

/** A named guard, or a condition on another region; a list of terms means all of them. */
export type GuardTerm =
  | string
  | { readonly and: readonly GuardTerm[] }
  | { readonly or: readonly GuardTerm[] }
  | { readonly not: GuardTerm }
  | { readonly in: string };

export interface Row {
  /** Dotted path of the state that has the handler, '' for the root. */
  readonly from: string;
  readonly event: string;
  readonly guards: readonly GuardTerm[];
  /** Dotted path, or null where the state stays. */
  readonly to: string | null;
  readonly actions: readonly string[];
  /** What the context has to say afterwards, where the states do not tell this row from the next one. */
  readonly leaves?: (context: never) => boolean;
  /** Leaves that never decide alone, because the others already imply them; spelt as in titles. */
  readonly moot?: readonly string[];
  /** Requirements that the row serves, for the titles of its tests. */
  readonly ids?: readonly string[];
}

export interface StateEntry {
  readonly initial?: string;
  readonly tags?: readonly string[];
  readonly entry?: readonly string[];
  readonly parallel?: true;
}

/** Whether a fact holds: of the context, by `factsOf`, or of the event, by its sample. */
export type Facts = (fact: string) => boolean;

export interface Sample {
  readonly type: string;
  /** What this variant of the event is made to be, such as 'forged'; none for the well-behaved one. */
  readonly facts: readonly string[];
  /** Payload fields that fit the context, so that only the named facts stand out. */
  readonly payload: (context: never) => object;
}

export interface Start {
  readonly name: string;
  readonly input: unknown;
  /** Replaces parts of the first snapshot: a row that no event leads to any more, but that a store may still hold. */
  readonly restored?: { readonly value?: object; readonly context?: object };
}

export interface Table {
  readonly name: string;
  readonly machine: AnyStateMachine;
  readonly states: Readonly<Record<string, StateEntry>>;
  readonly rows: readonly Row[];
  /** What each named guard has to say, in terms of facts; written without looking at its implementation. */
  readonly guards: Readonly<Record<string, (facts: Facts) => boolean>>;
  /** Facts of a context. Two snapshots with equal states and facts are taken to behave alike. */
  readonly factsOf: (context: never) => readonly string[];
  readonly starts: readonly Start[];
  readonly samples: readonly Sample[];
  /** Facts that the walk does not go beyond, for charts whose facts never come to an end. */
  readonly isBeyond?: (context: never) => boolean;
}

export const inState = (path: string): GuardTerm => ({ in: path });
export const not = (term: GuardTerm): GuardTerm => ({ not: term });
export const and = (...terms: readonly GuardTerm[]): GuardTerm => ({ and: terms });
export const or = (...terms: readonly GuardTerm[]): GuardTerm => ({ or: terms });

/** Shorthand for one row: nothing is asked, the state stays and nothing is done, unless it says so. */
export function row(from: string, event: string, rest: Partial<Omit<Row, 'from' | 'event'>> = {}): Row {
  return { from, event, guards: [], to: null, actions: [], ...rest };
}

/** `coverage.live + guardian.observed [observedAlive] → stay`, for titles of tests. */
export function titleOf({ from, event, guards, to, ids = [] }: Row): string {
  const served = ids.length === 0 ? '' : ` (${ids.join(', ')})`;
  const condition = guards.length === 0 ? '' : ` [${guards.map(spell).join(' ∧ ')}]`;
  return `${from || 'root'} + ${event}${condition} → ${to ?? 'stay'}${served}`;
}

export function spell(term: GuardTerm): string {
  if (typeof term === 'string') return term;
  if ('in' in term) return `in ${term.in}`;
  if ('not' in term) return `not ${spell(term.not)}`;
  const [parts, sign] = 'and' in term ? [term.and, ' ∧ '] : [term.or, ' ∨ '];
  return `(${parts.map(spell).join(sign)})`;
}

export function namedGuards(terms: readonly GuardTerm[]): string[] {
  return terms.flatMap((term) => {
    if (typeof term === 'string') return [term];
    if ('in' in term) return [];
    if ('not' in term) return namedGuards([term.not]);
    return namedGuards('and' in term ? term.and : term.or);
  });
}
