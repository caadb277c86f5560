/**
 * The live side as one XState system: the daemon's own life, its admission gate, and the services that feed the durable
 * actors, each under a `systemId` so that an inspector finds it. It dies with the process and is rebuilt from the store;
 * what must survive of it (a pause) is a row (ruling 5).
 */
import { type Actor, and, assertEvent, createActor, fromEventObservable, setup, stateIn } from 'xstate';
import type { DeadlineSignal } from '../observe/streams/deadlines.ts';
import { nothing$, type Observable } from '../observe/streams/input.ts';
import type { LaneEvent } from '../observe/streams/observations.ts';
import type { ReceiptEvent } from '../observe/streams/receipts.ts';
import { inspectorMachine } from './inspector/machine.ts';
import type { ScopeDeadline } from './services/deadlineService.ts';
import type { DueSession } from './terminals/sessionDeadlines.ts';

type Reports<T> = Observable<{ readonly type: string; readonly report: T }>;
type Service<T> = () => Reports<T>;

/** What the machine invokes and whom it tells; provided when the daemon is built. */
export interface RootServices {
  readonly receipts: Service<ReceiptEvent>;
  readonly observations: Service<LaneEvent>;
  readonly deadlines: Service<DeadlineSignal<ScopeDeadline>>;
  readonly sessionDeadlines: Service<DeadlineSignal<DueSession>>;
  /** Off until somebody asks for it. */
  readonly inspector: typeof inspectorMachine;
  readonly onReceipt: (event: ReceiptEvent) => void;
  readonly onLane: (event: LaneEvent) => void;
  readonly onDeadline: (signal: DeadlineSignal<ScopeDeadline>) => void;
  readonly onSessionDeadline: (signal: DeadlineSignal<DueSession>) => void;
}

/** What an operator has asked for, and who ends the process once everything is settled. */
export interface ShutdownIntent {
  readonly verb: 'stop' | 'restart';
  readonly via: 'direct' | 'service';
}

/** Why a stop came to nothing: what is not proved to be gone, or what kept it from finding out. */
export interface ShutdownFailure {
  readonly reason: string;
  readonly scopeIds: readonly string[];
}

export type RootEvent =
  | { readonly type: 'recovery.completed' }
  | { readonly type: 'shutdown.requested'; readonly intent: ShutdownIntent }
  | { readonly type: 'shutdown.abandoned' }
  | { readonly type: 'drain.failed'; readonly failure: ShutdownFailure }
  | { readonly type: 'drain.workersSettled' }
  | { readonly type: 'ownership.rescanned'; readonly blocked: readonly string[] }
  | { readonly type: 'service.commandIssued' }
  | { readonly type: 'daemon.exited' }
  | { readonly type: 'drain.started' }
  | { readonly type: 'drain.ended' }
  | { readonly type: 'admission.paused' }
  | { readonly type: 'admission.resumed' }
  | { readonly type: 'store.failed' }
  | { readonly type: 'store.recovered' }
  | { readonly type: 'receipt.reported'; readonly report: ReceiptEvent }
  | { readonly type: 'lane.reported'; readonly report: LaneEvent }
  | { readonly type: 'deadline.reported'; readonly report: DeadlineSignal<ScopeDeadline> }
  | { readonly type: 'sessionDeadline.reported'; readonly report: DeadlineSignal<DueSession> };

/** Stands where a service is provided later; a machine without its services reports nothing. */
const unprovided = <T>() => fromEventObservable((): Reports<T> => nothing$);

interface RootContext {
  /** Whether an operator keeps launches back; also while nothing is admitted for another reason. */
  readonly isPaused: boolean;
  readonly intent: ShutdownIntent | null;
  readonly failure: ShutdownFailure | null;
}

const base = setup({
  types: {
    context: {} as RootContext,
    events: {} as RootEvent,
    input: {} as { readonly pausedBefore: boolean },
  },
  actors: {
    receiptWatcher: unprovided<ReceiptEvent>(),
    observationLane: unprovided<LaneEvent>(),
    deadlineService: unprovided<DeadlineSignal<ScopeDeadline>>(),
    sessionDeadlines: unprovided<DeadlineSignal<DueSession>>(),
    inspector: inspectorMachine,
  },
  guards: {
    isPaused: ({ context }) => context.isPaused,
    allProved: ({ event }) => {
      assertEvent(event, 'ownership.rescanned');
      return event.blocked.length === 0;
    },
  },
  actions: {
    tellReceipt: (_, _params: { readonly report: ReceiptEvent }) => {},
    tellLane: (_, _params: { readonly report: LaneEvent }) => {},
    tellDeadline: (_, _params: { readonly report: DeadlineSignal<ScopeDeadline> }) => {},
    tellSessionDeadline: (_, _params: { readonly report: DeadlineSignal<DueSession> }) => {},
  },
});

const rootSetup = base.extend({
  actions: {
    rememberPause: base.assign({ isPaused: true }),
    forgetPause: base.assign({ isPaused: false }),
    recordIntent: base.assign(({ event }) => {
      assertEvent(event, 'shutdown.requested');
      return { intent: event.intent, failure: null };
    }),
    recordFailure: base.assign(({ event }) => {
      assertEvent(event, ['drain.failed', 'ownership.rescanned', 'store.failed']);
      if (event.type === 'drain.failed') return { failure: event.failure };
      return event.type === 'store.failed'
        ? { failure: { reason: 'store_failed', scopeIds: [] } }
        : { failure: { reason: 'not_proved', scopeIds: event.blocked } };
    }),
    clearFailure: base.assign({ intent: null, failure: null }),
  },
});

const isRecovering = stateIn({ lifecycle: 'recovering' });
const isServing = stateIn({ lifecycle: 'serving' });
const isDegraded = stateIn({ lifecycle: 'degraded' });

export const rootMachine = rootSetup.createMachine({
  id: 'daemon',
  type: 'parallel',
  context: ({ input }) => ({ isPaused: input.pausedBefore, intent: null, failure: null }),
  states: {
    lifecycle: {
      initial: 'recovering',
      states: {
        recovering: {
          description: 'Learning what became of everything that earlier daemons launched.',
          on: {
            'recovery.completed': 'serving',
            'shutdown.requested': { target: 'draining', actions: 'recordIntent' },
          },
        },
        serving: {
          description: 'Taking calls.',
          on: {
            'shutdown.requested': { target: 'draining', actions: 'recordIntent' },
            'store.failed': 'degraded',
          },
        },
        degraded: {
          description: 'The store takes nothing: what is known is shown, and nothing is begun.',
          on: {
            'shutdown.requested': { target: 'draining', actions: 'recordIntent' },
            'store.recovered': 'serving',
          },
        },
        draining: {
          description: 'Ending everything that is owned, before the daemon itself may go.',
          initial: 'workers',
          on: {
            'drain.failed': { target: 'drainBlocked', actions: 'recordFailure' },
            'store.failed': { target: 'drainBlocked', actions: 'recordFailure' },
          },
          states: {
            workers: {
              description: 'Every scope that was owned when the stop began is on its way out.',
              on: { 'drain.workersSettled': 'rescan' },
            },
            rescan: {
              description: 'Looking once more: what was launched meanwhile is owned as well (SHUT-10).',
              on: {
                'ownership.rescanned': [
                  { guard: 'allProved', target: '#daemon.lifecycle.drained' },
                  { target: '#daemon.lifecycle.drainBlocked', actions: 'recordFailure' },
                ],
              },
            },
          },
        },
        drainBlocked: {
          description:
            'Something owned is not proved to be gone. Maintenance goes on; the stop can be asked for again, or given up.',
          on: {
            'shutdown.requested': { target: 'draining', actions: 'recordIntent' },
            'shutdown.abandoned': { target: 'serving', actions: 'clearFailure' },
          },
        },
        drained: {
          description: 'Nothing owned is left. Only here may the service manager be called (SHUT-05).',
          on: { 'service.commandIssued': 'stopped', 'daemon.exited': 'stopped' },
        },
        stopped: { description: 'The process leaves.' },
      },
    },
    admission: {
      initial: 'closed',
      on: {
        'admission.paused': { actions: 'rememberPause' },
        'admission.resumed': { actions: 'forgetPause' },
      },
      states: {
        closed: {
          description: 'Nothing new is launched: not yet, or not any more.',
          on: {
            // A stop that was taken up in the meantime has closed admission, and goes on (SHUT-10).
            'recovery.completed': [
              { guard: and([isRecovering, 'isPaused']), target: 'paused' },
              { guard: isRecovering, target: 'open' },
            ],
            'shutdown.abandoned': { guard: stateIn({ lifecycle: 'drainBlocked' }), target: 'paused' },
            'store.recovered': [
              { guard: and([isDegraded, 'isPaused']), target: 'paused' },
              { guard: isDegraded, target: 'open' },
            ],
          },
        },
        open: {
          description: 'Launches are admitted.',
          on: {
            'admission.paused': { target: 'paused', actions: 'rememberPause' },
            'shutdown.requested': 'closed',
            'store.failed': 'closed',
            'drain.started': 'draining',
          },
        },
        paused: {
          description: 'An operator keeps new launches back.',
          on: {
            'admission.resumed': { guard: isServing, target: 'open', actions: 'forgetPause' },
            'shutdown.requested': 'closed',
            'drain.started': 'draining',
          },
        },
        draining: {
          description: 'Everything is being drained and the daemon stays: afterwards admission is what it was.',
          on: {
            'shutdown.requested': 'closed',
            'drain.ended': [
              { guard: 'isPaused', target: 'paused' },
              { guard: isServing, target: 'open' },
              { target: 'closed' },
            ],
          },
        },
      },
    },
    maintenance: {
      initial: 'running',
      states: {
        running: {
          description: 'In every state of the lifecycle: what lives is watched also while a stop is blocked.',
          invoke: [
            { src: 'receiptWatcher', systemId: 'receiptWatcher' },
            { src: 'observationLane', systemId: 'observationLane' },
            { src: 'deadlineService', systemId: 'deadlineService' },
            { src: 'sessionDeadlines', systemId: 'sessionDeadlines' },
            { src: 'inspector', systemId: 'inspector' },
          ],
          on: {
            'receipt.reported': { actions: { type: 'tellReceipt', params: ({ event }) => ({ report: event.report }) } },
            'lane.reported': { actions: { type: 'tellLane', params: ({ event }) => ({ report: event.report }) } },
            'deadline.reported': {
              actions: { type: 'tellDeadline', params: ({ event }) => ({ report: event.report }) },
            },
            'sessionDeadline.reported': {
              actions: { type: 'tellSessionDeadline', params: ({ event }) => ({ report: event.report }) },
            },
            'service.commandIssued': { guard: stateIn({ lifecycle: 'drained' }), target: 'off' },
            'daemon.exited': { guard: stateIn({ lifecycle: 'drained' }), target: 'off' },
          },
        },
        off: { description: 'Nothing is left that anybody would have to look after.' },
      },
    },
  },
});

export type Root = Actor<typeof rootMachine>;

export function createRoot(services: RootServices, pausedBefore: boolean): Root {
  const provided = rootMachine.provide({
    actors: {
      receiptWatcher: fromEventObservable(services.receipts),
      observationLane: fromEventObservable(services.observations),
      deadlineService: fromEventObservable(services.deadlines),
      sessionDeadlines: fromEventObservable(services.sessionDeadlines),
      inspector: services.inspector,
    },
    actions: {
      tellReceipt: (_, { report }) => services.onReceipt(report),
      tellLane: (_, { report }) => services.onLane(report),
      tellDeadline: (_, { report }) => services.onDeadline(report),
      tellSessionDeadline: (_, { report }) => services.onSessionDeadline(report),
    },
  });
  return createActor(provided, { systemId: 'daemon', input: { pausedBefore } });
}

type Lifecycle = 'recovering' | 'serving' | 'degraded' | 'draining' | 'drainBlocked' | 'drained' | 'stopped';

export function lifecycleOf(root: Root): Lifecycle {
  const { lifecycle } = root.getSnapshot().value;
  return typeof lifecycle === 'string' ? lifecycle : 'draining';
}

const endings: ReadonlySet<Lifecycle> = new Set<Lifecycle>(['draining', 'drained', 'stopped']);

/** Whether everything that is owned is being ended, or has been: what began now would be missed, or ended in turn. */
export const isEnding = (root: Root): boolean => endings.has(lifecycleOf(root)) || isDraining(root);

/** Whether that happens to a daemon that stays. */
export const isDraining = (root: Root): boolean => root.getSnapshot().value.admission === 'draining';

/** `open`, `paused` or `closed`. */
export function admissionOf(root: Root): 'open' | 'paused' | 'closed' {
  const { admission } = root.getSnapshot().value;
  return admission === 'draining' ? 'closed' : admission;
}

/** Why the last stop came to nothing, while it stands. */
export const shutdownFailureOf = (root: Root): ShutdownFailure | null =>
  lifecycleOf(root) === 'drainBlocked' ? root.getSnapshot().context.failure : null;
