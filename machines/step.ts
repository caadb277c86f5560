/**
 * One pure step of a durable chart. `machine.transition` runs against a scope that is built once: the exported
 * `transition()` of XState builds an actor and a system per call and is five times slower. Nothing can leak from one call
 * to the next, because durable charts neither spawn nor send (JRN-11) and the only thing that the scope gathers is
 * emptied before every use.
 */
import type { AnyActorScope, AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { sameJson } from './canonical.ts';
import type { ActorDefinition, PersistedSnapshot } from './definition.ts';
import { type Effect, type EffectType, isEffectType } from './effects.ts';
import type { MachineEvent } from './events/envelope.ts';
import { learnMove, move } from './moving.ts';
import { begin, learnBeginning } from './starting.ts';
import { choose, stay } from './staying.ts';

export interface StepResult {
  readonly snapshot: AnyMachineSnapshot;
  readonly effects: readonly Effect[];
  /** `unmatched` returns the very snapshot that was given. */
  readonly change: 'changed' | 'noop' | 'unmatched';
}

export class SnapshotError extends Error {
  override readonly name = 'SnapshotError';
  readonly code: 'snapshot_invalid' | 'snapshot_not_active' | 'action_unknown';

  constructor(code: SnapshotError['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

let collected: Effect[] = [];

const inertScope = {
  self: { id: 'durable', sessionId: 'durable' },
  id: 'durable',
  sessionId: 'durable',
  logger: () => {},
  defer: () => {},
  emit: () => {},
  stopChild: () => {},
  system: { _sendInspectionEvent: () => {} },
  actionExecutor: ({ type, params }: { readonly type: string; readonly params: unknown }) => {
    if (!isEffectType(type))
      throw new SnapshotError('action_unknown', `${type} is neither an assignment nor a known effect`);
    collected.push({ type, params } as Effect & { readonly type: EffectType });
  },
} as unknown as AnyActorScope;

function gathering<T>(run: () => T): readonly [T, readonly Effect[]] {
  collected = [];
  const result = run();
  const effects = collected;
  collected = [];
  return [result, effects];
}

/** First snapshot and the effects of entering it. A throwing action is a bug and propagates. */
export function start(machine: AnyStateMachine, input: unknown): Pick<StepResult, 'snapshot' | 'effects'> {
  const begun = begin(machine, input);
  if (begun !== undefined) return { snapshot: begun, effects: [] };
  const [snapshot, effects] = gathering(() => machine.getInitialSnapshot(inertScope, input) as AnyMachineSnapshot);
  assertActive(snapshot);
  learnBeginning(machine, snapshot);
  return { snapshot, effects };
}

/**
 * Next snapshot. Only an active snapshot may be stepped: XState's pure function would still run the root handlers of a
 * finished one (JRN-12). A throwing guard or action propagates and leaves `snapshot` as it was.
 */
export function step(machine: AnyStateMachine, snapshot: AnyMachineSnapshot, event: MachineEvent): StepResult {
  if (snapshot.status !== 'active') throw new SnapshotError('snapshot_not_active', `status is ${snapshot.status}`);
  const chosen = choose(machine, snapshot, event);
  const quick = chosen && (stay(machine, chosen) ?? move(machine, chosen));
  const [next, effects] = quick ? [quick, []] : gathering(() => machine.transition(snapshot, event, inertScope));
  if (quick === undefined && chosen !== undefined && effects.length === 0) learnMove(machine, chosen, next);
  // A matched transition that only names effects returns the same reference as well.
  if (next === snapshot && effects.length === 0) return { snapshot, effects, change: 'unmatched' };
  if (next.status === 'error')
    throw next.error instanceof Error ? next.error : new SnapshotError('snapshot_invalid', 'the step failed');
  return { snapshot: next, effects, change: effects.length > 0 || isDifferent(snapshot, next) ? 'changed' : 'noop' };
}

/** An assignment keeps the fields that it does not name, so hardly anything has to be compared. */
const isDifferent = (before: AnyMachineSnapshot, after: AnyMachineSnapshot): boolean =>
  !sameJson(before.value, after.value) || !sameJson(before.context, after.context);

/**
 * The JSON that a row holds: what `getPersistedSnapshot` makes of a chart without children and history, which these are
 * (JRN-11), without its walk through a context that is JSON already.
 */
export function toPersisted(
  definition: Pick<ActorDefinition, 'machine'>,
  snapshot: AnyMachineSnapshot,
): PersistedSnapshot {
  const { status, output, error, value, historyValue, context, children } = snapshot;
  if (Object.keys(children).length > 0 || Object.keys(historyValue).length > 0) {
    return definition.machine.getPersistedSnapshot(snapshot) as unknown as PersistedSnapshot;
  }
  return { status, output, error, value, historyValue: {}, context, children: {} };
}

/**
 * A live snapshot out of a row's text. It is parsed here because restoring mutates what it is given. A state that the
 * chart no longer has makes XState throw or answer with status `error`, depending on where it stood; both are refused
 * with its name.
 */
export function fromPersisted(definition: Pick<ActorDefinition, 'machine' | 'kind'>, json: string): AnyMachineSnapshot {
  let snapshot: AnyMachineSnapshot;
  try {
    snapshot = definition.machine.restoreSnapshot(JSON.parse(json), inertScope) as AnyMachineSnapshot;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SnapshotError(
      'snapshot_invalid',
      `a row of kind ${definition.kind} does not fit its chart: ${reason}`,
      cause,
    );
  }
  assertActive(snapshot);
  return snapshot;
}

function assertActive(snapshot: AnyMachineSnapshot): void {
  if (snapshot.status === 'error') {
    throw new SnapshotError(
      'snapshot_invalid',
      snapshot.error instanceof Error ? snapshot.error.message : 'status is error',
    );
  }
}
