/**
 * Steps into other states without XState's search for the states to leave and to enter. Where neither leaving nor entering
 * does anything, the states that a transition leads to follow from those that it leaves, and are those to which XState has
 * led before; only the context is made anew, by the assignments of the transition. Everything else is left to XState, and
 * a test holds both to the same answer in every situation of every chart.
 */
import type { AnyMachineSnapshot, AnyStateMachine, AnyTransitionDefinition } from 'xstate';
import { isEnteredSilently, nodesOf, standsAlone } from './silent.ts';
import { assignedBy, type Chosen } from './staying.ts';

/** By transition, and by the states that it left. A chart has few of either. */
const learned = new WeakMap<AnyTransitionDefinition, Map<string, AnyMachineSnapshot>>();

const statesOf = ({ value }: AnyMachineSnapshot): string => JSON.stringify(value);

/** The next snapshot, or undefined where XState has to work it out. */
export function move(
  machine: AnyStateMachine,
  { snapshot, event, transitions }: Chosen,
): AnyMachineSnapshot | undefined {
  const transition = only(transitions);
  const states = transition && learned.get(transition)?.get(statesOf(snapshot));
  const context = states && assignedBy(machine, transition, { context: snapshot.context, event });
  return context && ({ ...states, context } as AnyMachineSnapshot);
}

/** Learns from a step that XState has made; `after` is the snapshot that it led to. */
export function learnMove(
  machine: AnyStateMachine,
  { snapshot: before, event, transitions }: Chosen,
  after: AnyMachineSnapshot,
): void {
  const transition = only(transitions);
  if (transition?.target === undefined) return;
  if (after.status !== 'active' || !isSilent(before) || !isSilent(after)) return;
  if (assignedBy(machine, transition, { context: before.context, event }) === undefined) return;
  const known = learned.get(transition) ?? new Map<string, AnyMachineSnapshot>();
  known.set(statesOf(before), after);
  learned.set(transition, known);
}

const only = (transitions: readonly AnyTransitionDefinition[]): AnyTransitionDefinition | undefined =>
  transitions.length === 1 ? transitions[0] : undefined;

/** Nothing is done on the way into or out of its states, nothing runs in them, and none of them is remembered or final. */
const isSilent = (snapshot: AnyMachineSnapshot): boolean =>
  nodesOf(snapshot).every((node) => isEnteredSilently(node) && node.exit.length === 0) && standsAlone(snapshot);
