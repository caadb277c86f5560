/** Plays a story of events on one chart. */
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { Effect } from '../../../machines/effects.ts';
import type { EventType, Payload } from '../../../machines/events/catalogue.ts';
import type { MachineEvent } from '../../../machines/events/envelope.ts';
import { executionScopeMachine, type ScopeSnapshot } from '../../../machines/executionScope.ts';
import { ptySessionMachine, type SessionSnapshot } from '../../../machines/ptySession.ts';
import { type RunSnapshot, runMachine } from '../../../machines/run.ts';
import { start, step } from '../../../machines/step.ts';
import { type WorkerSnapshot, workerIncarnationMachine } from '../../../machines/workerIncarnation.ts';
import { runInput } from '../tables/run.ts';
import {
  boot,
  digestOf,
  exitReceipt,
  guardian,
  laterBoot,
  sampledAt,
  slots,
  statusReceipt,
  workload,
} from './evidence.ts';
import { enclosingChecks, scopeInput } from './scopeSamples.ts';
import { sessionInput } from './sessionSamples.ts';
import { workerInput } from './workerSamples.ts';

/** A type with its payload; the event id is its place in the story, such as `2 guardian.attached`. */
export type Told = { readonly [Type in EventType]: readonly [Type, Payload<Type>] }[EventType];

export interface Played<Snapshot extends AnyMachineSnapshot> {
  readonly snapshot: Snapshot;
  readonly effects: readonly Effect[];
  /** One per event. */
  readonly changes: ReadonlyArray<'changed' | 'noop' | 'unmatched'>;
}

export const eventOf = ([type, payload]: Told, eventId: string): MachineEvent => ({ ...payload, type, eventId });

function play<Snapshot extends AnyMachineSnapshot>(machine: AnyStateMachine, input: unknown, story: readonly Told[]) {
  const first = start(machine, input);
  const effects = [...first.effects];
  const changes: Array<'changed' | 'noop' | 'unmatched'> = [];
  let { snapshot } = first;
  for (const [index, told] of story.entries()) {
    const taken = step(machine, snapshot, eventOf(told, `${index + 1} ${told[0]}`));
    snapshot = taken.snapshot;
    effects.push(...taken.effects);
    changes.push(taken.change);
  }
  return { snapshot: snapshot as Snapshot, effects, changes } satisfies Played<Snapshot>;
}

export const playScope = (story: readonly Told[], input: Partial<Payload<'scope.requested'>> = {}) =>
  play<ScopeSnapshot>(executionScopeMachine, scopeInput(input), story);

export const playRun = (story: readonly Told[], input: Partial<Payload<'run.reserved'>> = {}) =>
  play<RunSnapshot>(runMachine, runInput(input), story);

export const playSession = (story: readonly Told[], input: Partial<Payload<'session.opened'>> = {}) =>
  play<SessionSnapshot>(ptySessionMachine, sessionInput(input), story);

export const playWorker = (story: readonly Told[], input: Partial<Payload<'worker.requested'>> = {}) =>
  play<WorkerSnapshot>(workerIncarnationMachine, workerInput(input), story);

export const bound: Told = [
  'identity.bound',
  { identity: workload, identityDigest: digestOf('a'), verified: true, source: 'entrypoint', scopeId: null },
];

export const prepared: Told = ['launch.prepared', { slots }];
export const attached: Told = ['guardian.attached', { guardian, workload, bootId: boot }];
export const released: Told = ['launch.releaseCommitted', {}];
export const abandoned: Told = ['launch.abandoned', { gate: 'never_opened', reason: 'drained' }];
export const rootEnded: Told = ['workload.statusReceipt', statusReceipt('S1')];
export const treeEnded: Told = ['guardian.exitReceipt', exitReceipt()];
export const rebooted: Told = ['boot.epochEnded', { currentBootId: laterBoot, uniform: true }];
export const enclosed: Told = [
  'enclosing.receiptAccepted',
  {
    enclosingScopeId: 'S0' as Payload<'enclosing.receiptAccepted'>['enclosingScopeId'],
    receiptDigest: digestOf('d'),
    checks: enclosingChecks,
    survivors: 0,
  },
];

export const seen = (result: 'alive' | 'absent' | 'unknown', reason = 'sampled'): Told => [
  'guardian.observed',
  { result, reason, contextDigest: '', sampledAt },
];

export const assumedGone = (because: string): Told => [
  'end.assumed',
  { requestId: 'q', actor: 'operator', because, atWallMs: 1, observed: [] },
];
export const gap = (reason: Payload<'coverage.gap'>['reason']): Told => ['coverage.gap', { reason }];

export const drain = (cause: Payload<'drain.requested'>['cause'], rest: object = {}): Told => [
  'drain.requested',
  { cause, requestId: `to ${cause}`, ...rest },
];

export const witnesses = (found: Readonly<Record<string, string>>): Told => [
  'witness.merged',
  { witnesses: found, basisVersion: 1 },
];

/** From the request to the released gate (section C.11, rule 3). */
export const launch: readonly Told[] = [prepared, attached, released];
