/**
 * The most frequent steps, those that stay where they are and only assign, without XState's search for states to leave
 * and to enter: it copies the state, its tags and a wide context several times and takes five times as long. Everything
 * else is left to XState, and a test holds both to the same answer in every situation of every chart.
 */
import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import type { MachineEvent } from './events/envelope.ts';

/** A step that may be made without XState: what the chart does with an event, as it stands. */
export interface Chosen {
  readonly snapshot: AnyMachineSnapshot;
  readonly event: MachineEvent;
  /** Their guards have answered yes. */
  readonly transitions: readonly AnyTransitionDefinition[];
}

/** Asks every guard once, for all who have a way to make the step. Undefined for a chart whose steps only XState makes. */
export function choose(
  machine: AnyStateMachine,
  snapshot: AnyMachineSnapshot,
  event: MachineEvent,
): Chosen | undefined {
  if (isEventlessChart(machine)) return undefined;
  return { snapshot, event, transitions: machine.getTransitionData(snapshot, event) };
}

/** The next snapshot, the given one where nothing takes the event, or undefined where XState has to work it out. */
export function stay(
  machine: AnyStateMachine,
  { snapshot, event, transitions }: Chosen,
): AnyMachineSnapshot | undefined {
  let context: object = snapshot.context;
  for (const transition of transitions) {
    const next = transition.target === undefined ? assignedBy(machine, transition, { context, event }) : undefined;
    if (next === undefined) return undefined;
    context = next;
  }
  return context === snapshot.context ? snapshot : ({ ...snapshot, context } as AnyMachineSnapshot);
}

/** The context after the assignments of a transition; undefined where it does anything else. */
export function assignedBy(
  machine: AnyStateMachine,
  { actions }: Pick<AnyTransitionDefinition, 'actions'>,
  { context: before, event }: AssignArgs,
): object | undefined {
  let context = before;
  for (const action of actions) {
    const assignment = assignmentOf(machine, action);
    if (assignment === undefined) return undefined;
    context = { ...context, ...assigned(assignment, { context, event }) };
  }
  return context;
}

interface AssignArgs {
  readonly context: object;
  readonly event: MachineEvent;
}

type Assignment = ((args: AssignArgs) => object) | Readonly<Record<string, unknown>>;

/** What an `assign` assigns; undefined for any other action, and for one with parameters. */
function assignmentOf(machine: AnyStateMachine, action: unknown): Assignment | undefined {
  const implementation = typeof action === 'string' ? machine.implementations.actions[action] : action;
  return (implementation as { readonly assignment?: Assignment } | undefined)?.assignment;
}

function assigned(assignment: Assignment, args: AssignArgs): object {
  if (typeof assignment === 'function') return assignment(args);
  const fields = Object.entries(assignment);
  return Object.fromEntries(fields.map(([key, value]) => [key, typeof value === 'function' ? value(args) : value]));
}

const eventless = new WeakMap<AnyStateMachine, boolean>();

/** Where a condition alone may move a chart, every assignment may. */
export function isEventlessChart(machine: AnyStateMachine): boolean {
  let known = eventless.get(machine);
  if (known === undefined) {
    known = isEventless(machine.root);
    eventless.set(machine, known);
  }
  return known;
}

const isEventless = (node: AnyStateNode): boolean =>
  (node.always?.length ?? 0) > 0 || Object.values(node.states).some(isEventless);
