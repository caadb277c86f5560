/** Context, guards and actions of the recovery fence; the chart itself stands in recoveryFence.ts. */
import { assertEvent, setup } from 'xstate';
import type { EventOf, EventType, Payload } from './events/catalogue.ts';
import type { IncarnationId, ScopeId } from './ids.ts';

export interface FencedWorker {
  readonly incarnationId: IncarnationId;
  readonly scopeId: ScopeId;
  /** The event that proved its scope, or null as long as there is none. */
  readonly settledBy: string | null;
}

/** Why a recovery came no further, newest last. */
export interface RecoveryTrouble {
  readonly phase: string;
  readonly reason: string;
  readonly scopeIds: readonly ScopeId[];
  readonly eventId: string;
}

export interface FenceContext extends Payload<'fence.established'> {
  /** The incarnation that has to be gone; null where there was none. */
  readonly old: FencedWorker | null;
  readonly replacement: FencedWorker | null;
  /** Why the last recovery began. */
  readonly reason: string | null;
  /** Retries since the last replacement that ticked: the backoff grows with it (REC-09). */
  readonly attempts: number;
  /** The earliest time of the next retry that nobody asked for. */
  readonly retryAt: Payload<'recovery.failed'>['retryAt'] | null;
  readonly evidence: readonly RecoveryTrouble[];
}

type FenceEventType = Extract<
  EventType,
  | 'recovery.started'
  | 'worker.scopeSettled'
  | 'ownership.rescanned'
  | 'replacement.launched'
  | 'scheduler.tick'
  | 'recovery.failed'
  | 'recovery.retry'
>;
export type FenceEvent = EventOf<FenceEventType>;

export const initialFenceContext = ({ runtimeId }: Payload<'fence.established'>): FenceContext => ({
  runtimeId,
  old: null,
  replacement: null,
  reason: null,
  attempts: 0,
  retryAt: null,
  evidence: [],
});

/** The journal has all of it; a row keeps what is shown. */
const troublesKept = 8;

/** First wait and longest wait between two attempts, in milliseconds. */
export interface BackoffLimits {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** 1 s, 2 s, 4 s … up to the longest wait (REC-09). `attempts` counts the retries so far. */
export const recoveryBackoffMs = (attempts: number, { firstMs, mostMs }: BackoffLimits): number =>
  Math.min(mostMs, firstMs * 2 ** Math.min(attempts, 30));

const isProved = ({
  rescanned,
  pending,
  unverified,
}: EventOf<'ownership.rescanned'> | EventOf<'replacement.launched'>) => rescanned && pending === 0 && unverified === 0;

const settledBefore = ({ replacement }: FenceContext, scopeId: ScopeId): string | null =>
  replacement?.scopeId === scopeId ? replacement.settledBy : null;

const base = setup({
  types: { context: {} as FenceContext, events: {} as FenceEvent, input: {} as Payload<'fence.established'> },
  guards: {
    /** The worker that was launched last has ended by itself, and that was proved before the recovery began. */
    isOldGone: ({ context, event }) => {
      assertEvent(event, 'recovery.started');
      return event.old !== null && event.liveWorkers <= 1 && settledBefore(context, event.old.scopeId) !== null;
    },
    hasOneOld: ({ event }) => {
      assertEvent(event, 'recovery.started');
      return event.old !== null && event.liveWorkers === 1;
    },
    hasNoOld: ({ event }) => {
      assertEvent(event, 'recovery.started');
      return event.old === null && event.liveWorkers === 0;
    },
    isOldScope: ({ context, event }) => {
      assertEvent(event, 'worker.scopeSettled');
      return event.scopeId === context.old?.scopeId;
    },
    isReplacementScope: ({ context, event }) => {
      assertEvent(event, 'worker.scopeSettled');
      return event.scopeId === context.replacement?.scopeId;
    },
    isOldSettled: ({ context }) => context.old === null || context.old.settledBy !== null,
    everyScopeProved: ({ event }) => {
      assertEvent(event, ['ownership.rescanned', 'replacement.launched']);
      return isProved(event);
    },
    notOld: ({ context, event }) => {
      assertEvent(event, 'replacement.launched');
      return event.incarnationId !== context.old?.incarnationId;
    },
    admissionEnabled: ({ event }) => {
      assertEvent(event, 'replacement.launched');
      return event.workerEnabled;
    },
    tickFromReplacement: ({ context, event }) => {
      assertEvent(event, 'scheduler.tick');
      return event.incarnationId === context.replacement?.incarnationId;
    },
  },
});

export const fenceSetup = base.extend({
  actions: {
    begin: base.assign(({ context, event }) => {
      assertEvent(event, 'recovery.started');
      const { reason } = event;
      const old = event.old && { ...event.old, settledBy: settledBefore(context, event.old.scopeId) };
      return { old, replacement: null, reason, retryAt: null, evidence: [] };
    }),
    noteOldSettled: base.assign(({ context, event }) => {
      assertEvent(event, 'worker.scopeSettled');
      return { old: context.old && { ...context.old, settledBy: event.proofEventId } };
    }),
    noteReplacementSettled: base.assign(({ context, event }) => {
      assertEvent(event, 'worker.scopeSettled');
      return { replacement: context.replacement && { ...context.replacement, settledBy: event.proofEventId } };
    }),
    retain: base.assign(({ context, event }) => {
      assertEvent(event, ['ownership.rescanned', 'recovery.failed']);
      return { retryAt: event.retryAt, evidence: [...context.evidence, troubleIn(event)].slice(-troublesKept) };
    }),
    countAttempt: base.assign(({ context }) => ({ attempts: context.attempts + 1, retryAt: null })),
    setReplacement: base.assign(({ event }) => {
      assertEvent(event, 'replacement.launched');
      const { incarnationId, scopeId } = event;
      return { replacement: { incarnationId, scopeId, settledBy: null } };
    }),
    /** One that was launched and did not come up is the next that has to be gone. */
    promote: base.assign(({ context }) => ({ old: context.replacement, replacement: null })),
    finish: base.assign({ old: null, attempts: 0, retryAt: null, evidence: [] }),
    noop: base.assign({}),
  },
});

function troubleIn(event: EventOf<'ownership.rescanned'> | EventOf<'recovery.failed'>): RecoveryTrouble {
  const { eventId } = event;
  if (event.type === 'recovery.failed') return { phase: event.phase, reason: event.reason, scopeIds: [], eventId };
  const reason = event.rescanned ? 'ownership_unproved' : 'inspection_failed';
  return { phase: 'rescanning', reason, scopeIds: event.scopeIds, eventId };
}
