/** What a session remembers, and how its failures are kept apart: the first one stands, later ones are listed after it. */
import type { EventOf, EventType, Payload } from './events/catalogue.ts';
import type { WorkloadResult } from './evidence.ts';

export interface SessionFailure {
  readonly cause: 'launch' | 'stop' | 'deadline' | 'result' | 'capture' | 'status' | 'scope';
  readonly reason: string;
  /** The journal event that told of it. */
  readonly eventId: string;
}

export interface SessionContext extends Payload<'session.opened'> {
  readonly recorded: boolean;
  /** The last output that was journaled; 0 before the first. */
  readonly activity: {
    readonly seq: number;
    readonly bytes: number;
    readonly sampledAt: Payload<'session.opened'>['openedAt'];
  };
  /** Digest of a result that fits its schema. It is pending until a status is known (PTY-03, I-33). */
  readonly structured: string | null;
  readonly firstFailure: SessionFailure | null;
  readonly faults: readonly SessionFailure[];
  readonly status: WorkloadResult | null;
  readonly capture: {
    readonly eof: boolean;
    readonly truncated: boolean;
    readonly fault: string | null;
    readonly bytes: number;
  } | null;
}

export type SessionEventType = Extract<
  EventType,
  | 'launch.releaseCommitted'
  | 'launch.failed'
  | 'stop.requested'
  | 'deadline.reached'
  | 'result.reported'
  | 'session.output'
  | 'session.inputNeeded'
  | 'session.inputSent'
  | 'session.resized'
  | 'workload.statusReceipt'
  | 'workload.endedWithoutStatus'
  | 'capture.fault'
  | 'capture.drainStarted'
  | 'capture.finished'
  | 'scope.exitProved'
  | 'scope.unverified'
>;
export type SessionEvent = EventOf<SessionEventType>;

export const initialSessionContext = (input: Payload<'session.opened'>): SessionContext => ({
  sessionId: input.sessionId,
  runId: input.runId,
  scopeId: input.scopeId,
  cols: input.cols,
  rows: input.rows,
  deadlines: input.deadlines,
  openedAt: input.openedAt,
  recorded: input.recorded ?? true,
  activity: { seq: 0, bytes: 0, sampledAt: input.openedAt },
  structured: null,
  firstFailure: null,
  faults: [],
  status: null,
  capture: null,
});

/** What an event says went wrong. Throws for one that is no failure. */
export function failureIn(event: SessionEvent): SessionFailure {
  const { eventId } = event;
  switch (event.type) {
    case 'launch.failed':
      return { cause: 'launch', reason: event.reasonCode, eventId };
    case 'stop.requested':
      return { cause: 'stop', reason: event.cause, eventId };
    case 'deadline.reached':
      return { cause: 'deadline', reason: event.kind, eventId };
    case 'result.reported':
      return { cause: 'result', reason: event.reasonCode ?? 'schema_invalid', eventId };
    case 'capture.fault':
      return { cause: 'capture', reason: event.reason, eventId };
    case 'workload.endedWithoutStatus':
      return { cause: 'status', reason: event.reason, eventId };
    case 'scope.unverified':
      return { cause: 'scope', reason: event.reason, eventId };
    case 'workload.statusReceipt':
      return { cause: 'launch', reason: event.how, eventId };
    default:
      throw new Error(`${event.type} tells of no failure`);
  }
}

type Failures = Pick<SessionContext, 'firstFailure' | 'faults'>;

/** Noted once: a deadline that is offered again says nothing new. */
export function withFault({ faults }: Failures, fault: SessionFailure): Partial<Failures> {
  const isKnown = faults.some(({ cause, reason }) => cause === fault.cause && reason === fault.reason);
  return isKnown ? {} : { faults: [...faults, fault] };
}

/** The first failure is never overwritten, by nothing (PTY-06, I-34). */
export const withFailure = (failures: Failures, failure: SessionFailure): Partial<Failures> =>
  failures.firstFailure === null ? { firstFailure: failure } : withFault(failures, failure);
