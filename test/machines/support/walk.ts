/**
 * Breadth-first over everything that a table can reach: in each situation every sample of every event is given to the
 * chart and to the table, and what differs is a disagreement. Situations with equal states and facts are visited once.
 */
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { type Rejection, whyRejected } from '../../../machines/rejection.ts';
import { fromPersisted, start, step, toPersisted } from '../../../machines/step.ts';
import { type Configuration, type Situation, type Verdict, verdictOf } from './model.ts';
import { leavesOf } from './nodes.ts';
import { type Facts, type Sample, type Start, type Table, titleOf } from './table.ts';

export interface Step {
  /** Before the event. */
  readonly snapshot: AnyMachineSnapshot;
  readonly configuration: Configuration;
  readonly facts: readonly string[];
  readonly sample: Sample;
  readonly verdict: Verdict;
  /** What the chart did otherwise, or null where both agree. */
  readonly disagreement: string | null;
}

export interface WalkOptions {
  /** A mutant instead of the table's own machine; it has to show in what happens, not in what a refusal is called. */
  readonly mutant?: AnyStateMachine;
  /** Called once per situation and sample; true ends the walk. */
  readonly onStep: (step: Step) => boolean | undefined;
}

interface Visit {
  readonly snapshot: AnyMachineSnapshot;
  readonly configuration: Configuration;
  readonly facts: readonly string[];
}

/** Returns the number of situations. Throws when there are more than a table should have. */
export function walk(table: Table, { mutant, onStep }: WalkOptions): number {
  const machine = mutant ?? table.machine;
  const seen = new Set<string>();
  const queue: Visit[] = [];
  const enter = (snapshot: AnyMachineSnapshot): void => {
    const configuration = leavesOf(snapshot.value);
    const facts = [...table.factsOf(snapshot.context as never)].sort();
    const key = `${configuration.join()}|${facts.join()}`;
    if (seen.has(key) || table.isBeyond?.(snapshot.context as never)) return;
    seen.add(key);
    if (seen.size > 50_000) throw new Error(`${table.name} has more situations than can be walked: use fewer facts`);
    queue.push({ snapshot, configuration, facts });
  };
  for (const from of table.starts) enter(firstSnapshot(machine, from));
  for (let at = 0; at < queue.length; at += 1) {
    const visit = queue[at] as Visit;
    for (const sample of table.samples) {
      const { step: taken, after } = compare(table, { machine, visit, sample, withReasons: mutant === undefined });
      if (onStep(taken)) return seen.size;
      if (after !== undefined) enter(after);
    }
  }
  return seen.size;
}

function firstSnapshot(machine: AnyStateMachine, { input, restored }: Start): AnyMachineSnapshot {
  const { snapshot } = start(machine, input);
  if (restored === undefined) return snapshot;
  const row = toPersisted({ machine }, snapshot);
  const { value = row.value, context } = restored;
  return fromPersisted(
    { machine, kind: 'run' },
    JSON.stringify({ ...row, value, context: { ...row.context, ...context } }),
  );
}

/** The facts of a context and of a sample together, as a question. */
export const factsOf = (...lists: ReadonlyArray<readonly string[]>): Facts => {
  const known = new Set(lists.flat());
  return (fact) => known.has(fact);
};

interface Pair {
  readonly machine: AnyStateMachine;
  readonly visit: Visit;
  readonly sample: Sample;
  readonly withReasons: boolean;
}

function compare(table: Table, { machine, visit, sample, withReasons }: Pair) {
  const { snapshot, configuration, facts } = visit;
  const situation: Situation = { configuration, facts: factsOf(facts, sample.facts) };
  const verdict = verdictOf(table, situation, sample.type);
  const event = { ...sample.payload(snapshot.context as never), type: sample.type, eventId: `event of ${sample.type}` };
  const result = step(machine, snapshot, event);
  const isAccepted = result.change !== 'unmatched';
  const reached = isAccepted ? leavesOf(result.snapshot.value) : configuration;
  const reasons = () => (withReasons ? whyRejected(machine, snapshot, event) : undefined);
  const { context } = result.snapshot;
  const disagreement = isAccepted ? acceptedOtherwise(verdict, reached, context) : refusedOtherwise(verdict, reasons);
  return {
    step: { snapshot, configuration, facts, sample, verdict, disagreement },
    after: isAccepted ? result.snapshot : undefined,
  };
}

function acceptedOtherwise({ fired, next }: Verdict, reached: Configuration, context: unknown): string | null {
  if (fired.length === 0) return `the chart accepts it and goes to ${reached.join(', ')}`;
  const unkept = fired.find(({ leaves }) => leaves?.(context as never) === false);
  if (unkept !== undefined) return `the context is not what it is to be after ${titleOf(unkept)}`;
  return reached.join() === next.join()
    ? null
    : `the chart goes to ${reached.join(', ')} instead of ${next.join(', ')}`;
}

function refusedOtherwise(
  { fired, candidates, refusals }: Verdict,
  reasons: () => Rejection | undefined,
): string | null {
  if (fired.length > 0) return `the chart refuses: ${fired.map(titleOf).join('; ')}`;
  const rejection = reasons();
  if (rejection === undefined) return null;
  const isByGuard = rejection.reason === 'guard_refused';
  if (isByGuard !== candidates.length > 0) return `refused as ${rejection.reason}`;
  const guards = [...rejection.guards].sort();
  return guards.join() === refusals.join() ? null : `refused by [${guards}] instead of [${refusals}]`;
}

/** Names a step for a person. */
export function spellStep({ configuration, facts, sample, disagreement }: Step): string {
  const variant = sample.facts.length === 0 ? '' : ` (${sample.facts.join(', ')})`;
  const where = `${configuration.join(' ‖ ')}${facts.length === 0 ? '' : ` {${facts.join(', ')}}`}`;
  return `${sample.type}${variant} in ${where}: ${disagreement ?? 'agreed'}`;
}
