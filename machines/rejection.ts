/** Why an event changed nothing, named from the chart itself: XState drops an unmatched event without a word (K3). */
import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode } from 'xstate';
import type { MachineEvent } from './events/envelope.ts';

export interface Rejection {
  readonly reason: 'not_in_state' | 'guard_refused' | 'unknown_event' | 'terminal';
  /** Leaf guards that answered no, by name; conditions on other regions read `in region.state`. */
  readonly guards: readonly string[];
}

interface Composite {
  readonly guards?: readonly unknown[];
  readonly stateValue?: unknown;
  readonly name: string;
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
  if (typeof guard === 'function') {
    const { guards, stateValue, name } = guard as unknown as Composite;
    if (stateValue !== undefined) {
      const holds = question.snapshot.matches(stateValue as never);
      return holds === negated ? [`${negated ? 'not in' : 'in'} ${statePath(stateValue)}`] : [];
    }
    const parts = guards ?? [];
    const each = parts.map((part) => refusals(part, question, name === 'not' ? !negated : negated));
    const needsOnlyOne = (name === 'or') !== negated && name !== 'not';
    return needsOnlyOne && each.some((refused) => refused.length === 0) ? [] : each.flat();
  }
  const name = typeof guard === 'string' ? guard : (guard as { readonly type: string }).type;
  const params = typeof guard === 'string' ? undefined : (guard as { readonly params?: unknown }).params;
  const implementation = question.machine.implementations.guards[name] as
    | ((args: unknown, params: unknown) => boolean)
    | undefined;
  const holds = implementation?.({ context: question.snapshot.context, event: question.event }, params) ?? false;
  return holds === negated ? [negated ? `not ${name}` : name] : [];
}

function statePath(value: unknown): string {
  if (typeof value === 'string') return value;
  return Object.entries(value as Record<string, unknown>)
    .map(([region, state]) => `${region}.${statePath(state)}`)
    .join(' and ');
}
