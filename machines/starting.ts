/**
 * First snapshots without XState's search for the states to enter, which takes some thirty times as long as the context
 * that it is made for. Where entering does nothing, every first snapshot of a chart is in the same states and only its
 * context follows from the input; the states are then those of the first one that XState has made. Everything else is
 * left to XState, and a test holds both to the same answer for every chart and any input.
 */
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { isEnteredSilently, nodesOf, standsAlone } from './silent.ts';
import { isEventlessChart } from './staying.ts';

/** What a context is made of; whatever else XState would offer is refused, and the chart left to XState. */
class Given {
  readonly input: unknown;

  constructor(input: unknown) {
    this.input = input;
  }

  get self(): never {
    throw new TypeError('a context that knows its actor is made by XState');
  }

  get spawn(): never {
    throw new TypeError('a context with actors of its own is made by XState');
  }
}

type ContextOf = (args: Given) => object;

interface Beginning {
  readonly states: AnyMachineSnapshot;
  readonly contextOf: ContextOf;
}

const beginnings = new WeakMap<AnyStateMachine, Beginning | 'depends'>();

/** The first snapshot, or undefined where XState has to work it out. */
export function begin(machine: AnyStateMachine, input: unknown): AnyMachineSnapshot | undefined {
  const known = beginnings.get(machine);
  if (known === undefined || known === 'depends') return undefined;
  try {
    // XState assigns what the chart makes of its input to an empty context.
    return { ...known.states, context: { ...known.contextOf(new Given(input)) } } as AnyMachineSnapshot;
  } catch {
    // It throws there again and is reported as it always was.
    return undefined;
  }
}

/** Learns from a first snapshot that XState has made. */
export function learnBeginning(machine: AnyStateMachine, first: AnyMachineSnapshot): void {
  if (beginnings.has(machine) || first.status !== 'active') return;
  const { context } = machine.config as { readonly context?: unknown };
  if (typeof context !== 'function' || !isPlain(machine, first)) beginnings.set(machine, 'depends');
  else beginnings.set(machine, { states: frozen(first), contextOf: context as ContextOf });
}

/** Nothing is done, started or decided on the way in, so that no input can lead anywhere else. */
const isPlain = (machine: AnyStateMachine, first: AnyMachineSnapshot): boolean =>
  !isEventlessChart(machine) && nodesOf(first).every(isEnteredSilently) && standsAlone(first);

/** Many snapshots share it: whoever changed it in place would change all of them, and is stopped instead. */
function frozen(first: AnyMachineSnapshot): AnyMachineSnapshot {
  freezeDeep(first.value);
  for (const part of [first.children, first.historyValue, first._nodes]) Object.freeze(part);
  return first;
}

function freezeDeep(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  for (const part of Object.values(value)) freezeDeep(part);
}
