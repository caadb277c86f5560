/** Why an event changed nothing, named from the chart itself: XState drops an unmatched event without a word (K3). */
import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode } from 'xstate';
import type { MachineEvent } from './events/envelope.ts';
import { type CompositeGuard, combinatorOf } from './structuralHash.ts';

export interface Rejection {
  readonly reason: 'not_in_state' | 'guard_refused' | 'unknown_event' | 'terminal';
  /** Leaf guards that answered no, by name; conditions on other regions read `in region.state`. */
  readonly guards: readonly string[];
}

export function whyRejected(machine: AnyStateMachine, snapshot: AnyMachineSnapshot, event: MachineEvent): Rejection {
  if (snapshot.status !== 'active') return { reason: 'terminal', guards: [] };
  const nodes = snapshot._nodes as readonly AnyStateNode[];
  const candidates = nodes.flatMap((node) => node.transitions.get(event.type) ?? []);
  if (candidates.length > 0) {
    const guards = candidates.flatMap((candidate) => refusals(candidate.guard, { machine, snapshot, event }));
    return { reason: 'guard_refused', guards: [...new Set(guards)] };
  }
  const isKnown = machine.events.includes(event.type);
  return { reason: isKnown ? 'not_in_state' : 'unknown_event', guards: [] };
}

interface Question {
  readonly machine: AnyStateMachine;
  readonly snapshot: AnyMachineSnapshot;
  readonly event: MachineEvent;
}

/** Names of the leaves that make `guard` false. Under `not`, a leaf that is true is the one that refuses. */
function refusals(guard: unknown, question: Question, negated = false): string[] {
  if (guard === undefined || guard === null) return [];
  const combinator = combinatorOf(guard);
  if (combinator === undefined) return leafRefusal(guard, question, negated);
  const { guards = [], stateValue } = guard as CompositeGuard;
  if (combinator === 'stateIn') {
    const holds = question.snapshot.matches(stateValue as never);
    return holds === negated ? [`${negated ? 'not in' : 'in'} ${statePath(stateValue)}`] : [];
  }
  const each = guards.map((part) => refusals(part, question, combinator === 'not' ? !negated : negated));
  const needsOnlyOne = combinator === (negated ? 'and' : 'or');
  return needsOnlyOne && each.some((refused) => refused.length === 0) ? [] : each.flat();
}

type Implementation = (args: { readonly context: unknown; readonly event: MachineEvent }, params: unknown) => boolean;

function leafRefusal(guard: unknown, { machine, snapshot, event }: Question, negated: boolean): string[] {
  const { type: name, params } =
    typeof guard === 'string' ? { type: guard } : (guard as { type: string; params?: unknown });
  const implementation = machine.implementations.guards[name] as Implementation | undefined;
  // A name may stand for a combination of others; it is answered whole and blamed whole.
  if (implementation !== undefined && combinatorOf(implementation) !== undefined) {
    const refused = refusals(implementation, { machine, snapshot, event }).length > 0;
    return refused === negated ? [] : [negated ? `not ${name}` : name];
  }
  const args = { context: snapshot.context as unknown, event };
  const holds = implementation?.(args, typeof params === 'function' ? params(args) : params) ?? false;
  return holds === negated ? [negated ? `not ${name}` : name] : [];
}

function statePath(value: unknown): string {
  if (typeof value === 'string') return value;
  return Object.entries(value as Record<string, unknown>)
    .map(([region, state]) => `${region}.${statePath(state)}`)
    .join(' and ');
}
