/**
 * What the guards of the present state answer before any event has come. They are asked themselves, with an event that
 * tells only its type: one that wants to know more depends on what the event will bring. Nothing here knows what a guard
 * means, so nothing here can mean something else than the chart does.
 */
import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { type CompositeGuard, combinatorOf } from '../../machines/structuralHash.ts';

export type Known = boolean | 'depends';

export interface Asked {
  readonly answer: Known;
  /** Fields of the event that were looked at before an answer could be given. */
  readonly reads: readonly string[];
  /** Leaves that want to see the event, named as those that refuse. */
  readonly open: readonly string[];
  /** Leaves that the context alone makes refuse, as `rejection.ts` names them. */
  readonly refused: readonly string[];
}

export interface Way extends Asked {
  readonly event: string;
  readonly transition: AnyTransitionDefinition;
  readonly guard: string;
}

/** Every transition of every state that is active, in document order, with what is known of it now. */
export function waysOn(machine: AnyStateMachine, snapshot: AnyMachineSnapshot): readonly Way[] {
  if (snapshot.status !== 'active') return [];
  const nodes = [...(snapshot._nodes as readonly AnyStateNode[])].sort((a, b) => a.order - b.order);
  return nodes.flatMap((node) =>
    [...node.transitions].flatMap(([event, candidates]) =>
      candidates.map((transition, index) => {
        const question = { machine, snapshot, event };
        const own = ask(transition.guard, question);
        const before = precedence(nodes, node, { event, earlier: candidates.slice(0, index) });
        return { event, transition, guard: guardText(transition.guard), ...yielding(own, before, question) };
      }),
    ),
  );
}

interface Precedence {
  readonly event: string;
  readonly earlier: readonly AnyTransitionDefinition[];
}

/** XState takes the first candidate that holds, and those of a state inside before those of the states around it. */
const precedence = (
  nodes: readonly AnyStateNode[],
  node: AnyStateNode,
  { event, earlier }: Precedence,
): readonly AnyTransitionDefinition[] => [
  ...earlier,
  ...nodes.filter((other) => isInside(other, node)).flatMap((inner) => inner.transitions.get(event) ?? []),
];

const isInside = (node: AnyStateNode, around: AnyStateNode): boolean =>
  node.parent !== undefined && (node.parent === around || isInside(node.parent, around));

function yielding(own: Asked, before: readonly AnyTransitionDefinition[], question: Question): Asked {
  if (own.answer === false) return own;
  const others = before.map(({ guard }) => ask(guard, question));
  if (others.some(({ answer }) => answer === true)) return { ...own, answer: false };
  const open = others.filter(({ answer }) => answer === 'depends');
  if (open.length === 0) return own;
  return { ...own, answer: 'depends', reads: unique([...own.reads, ...open.flatMap(({ reads }) => reads)]) };
}

interface Question {
  readonly machine: AnyStateMachine;
  readonly snapshot: AnyMachineSnapshot;
  readonly event: string;
}

/** A guard with its parts: Kleene's three values, because a part that depends does not spoil what another one settles. */
function ask(guard: unknown, question: Question): Asked {
  if (guard === undefined || guard === null) return settled(true);
  const combinator = combinatorOf(guard);
  if (combinator === undefined) return askLeaf(guard, question);
  const { guards = [], stateValue } = guard as CompositeGuard;
  if (combinator === 'stateIn') {
    const answer = question.snapshot.matches(stateValue as never);
    return settled(answer, `in ${statePath(stateValue)}`);
  }
  const parts = guards.map((part) => ask(part, question));
  if (combinator === 'not') return negated(parts[0] as Asked, guards[0]);
  const settles = combinator === 'or';
  const answers = parts.map(({ answer }) => answer);
  const answer = answers.includes(settles) ? settles : answers.includes('depends') ? 'depends' : !settles;
  return {
    answer,
    reads: answer === 'depends' ? unique(parts.flatMap(({ reads }) => reads)) : [],
    open: answer === 'depends' ? unique(parts.flatMap(({ open }) => open)) : [],
    refused: answer === false ? unique(parts.flatMap(({ refused }) => refused)) : [],
  };
}

const settled = (answer: boolean, ...names: readonly string[]): Asked => ({
  answer,
  reads: [],
  open: [],
  refused: answer ? [] : names,
});

function negated({ answer, reads }: Asked, part: unknown): Asked {
  const name = `not ${guardText(part)}`;
  return answer === 'depends' ? { answer, reads, open: [name], refused: [] } : settled(!answer, name);
}

type Implementation = (args: { readonly context: unknown; readonly event: object }, params: unknown) => boolean;

function askLeaf(guard: unknown, question: Question): Asked {
  const { type: name, params } =
    typeof guard === 'string' ? { type: guard } : (guard as { readonly type: string; readonly params?: unknown });
  const implementation = question.machine.implementations.guards[name] as Implementation | undefined;
  if (implementation !== undefined && combinatorOf(implementation) !== undefined) return ask(implementation, question);
  const event = new Proxy({ type: question.event }, onlyType);
  try {
    const args = { context: question.snapshot.context as unknown, event };
    const answer = implementation?.(args, typeof params === 'function' ? params(args) : params) ?? false;
    return settled(answer, name);
  } catch (thrown) {
    if (thrown instanceof WantsMore) return { answer: 'depends', reads: [thrown.field], open: [name], refused: [] };
    throw thrown;
  }
}

class WantsMore extends Error {
  readonly field: string;

  constructor(field: string) {
    super(`the answer depends on ${field}`);
    this.field = field;
  }
}

const onlyType: ProxyHandler<{ readonly type: string }> = {
  get(target, field) {
    if (field === 'type') return target.type;
    throw new WantsMore(String(field));
  },
  has(_, field) {
    throw new WantsMore(String(field));
  },
  ownKeys() {
    throw new WantsMore('*');
  },
};

/** `a and not b`, as diagrams show it; parts of another kind stand in brackets. */
export function guardText(guard: unknown, around?: string): string {
  if (guard === undefined || guard === null) return '';
  const combinator = combinatorOf(guard);
  if (combinator === undefined) return typeof guard === 'string' ? guard : (guard as { readonly type: string }).type;
  const { guards = [], stateValue } = guard as CompositeGuard;
  if (combinator === 'stateIn') return `in ${statePath(stateValue)}`;
  if (combinator === 'not') return `not ${guardText(guards[0], 'not')}`;
  const text = guards.map((part) => guardText(part, combinator)).join(` ${combinator} `);
  return around === undefined || around === combinator || guards.length < 2 ? text : `(${text})`;
}

function statePath(value: unknown): string {
  if (typeof value === 'string') return value;
  return Object.entries(value as Record<string, unknown>)
    .map(([region, state]) => `${region}.${statePath(state)}`)
    .join(' and ');
}

const unique = <T>(values: readonly T[]): readonly T[] => [...new Set(values)];
