/**
 * The live side as one XState system: the daemon's own life, its admission gate, and the services that feed the durable
 * actors, each under a `systemId` so that an inspector finds it. It dies with the process and is rebuilt from the store;
 * what must survive of it (a pause) is a row (ruling 5).
 */
import { type Actor, createActor, fromEventObservable, setup, stateIn } from 'xstate';
import type { DeadlineSignal } from '../observe/streams/deadlines.ts';
import { nothing$, type Observable } from '../observe/streams/input.ts';
import type { LaneEvent } from '../observe/streams/observations.ts';
import type { ReceiptEvent } from '../observe/streams/receipts.ts';
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
  readonly onReceipt: (event: ReceiptEvent) => void;
  readonly onLane: (event: LaneEvent) => void;
  readonly onDeadline: (signal: DeadlineSignal<ScopeDeadline>) => void;
  readonly onSessionDeadline: (signal: DeadlineSignal<DueSession>) => void;
}

export type RootEvent =
  | { readonly type: 'recovery.completed' }
  | { readonly type: 'shutdown.requested' }
  | { readonly type: 'shutdown.abandoned' }
  | { readonly type: 'drain.failed' }
  | { readonly type: 'drain.completed' }
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

const rootSetup = setup({
  types: {
    context: {} as { readonly pausedBefore: boolean },
    events: {} as RootEvent,
    input: {} as { readonly pausedBefore: boolean },
  },
  actors: {
    receiptWatcher: unprovided<ReceiptEvent>(),
    observationLane: unprovided<LaneEvent>(),
    deadlineService: unprovided<DeadlineSignal<ScopeDeadline>>(),
    sessionDeadlines: unprovided<DeadlineSignal<DueSession>>(),
  },
  guards: { pausedBefore: ({ context }) => context.pausedBefore },
  actions: {
    tellReceipt: (_, _params: { readonly report: ReceiptEvent }) => {},
    tellLane: (_, _params: { readonly report: LaneEvent }) => {},
    tellDeadline: (_, _params: { readonly report: DeadlineSignal<ScopeDeadline> }) => {},
    tellSessionDeadline: (_, _params: { readonly report: DeadlineSignal<DueSession> }) => {},
  },
});

export const rootMachine = rootSetup.createMachine({
  id: 'daemon',
  type: 'parallel',
  context: ({ input }) => input,
  states: {
    lifecycle: {
      initial: 'recovering',
      states: {
        recovering: {
          description: 'Learning what became of everything that earlier daemons launched.',
          on: { 'recovery.completed': 'serving', 'shutdown.requested': 'draining' },
        },
        serving: {
          description: 'Taking calls.',
          on: { 'shutdown.requested': 'draining', 'store.failed': 'degraded' },
        },
        degraded: {
          description: 'The store takes nothing: what is known is shown, and nothing is begun.',
          on: { 'shutdown.requested': 'draining', 'store.recovered': 'serving' },
        },
        draining: {
          description: 'Ending everything that is owned, before the daemon itself may go.',
          on: { 'drain.failed': 'drainBlocked', 'drain.completed': 'drained' },
        },
        drainBlocked: {
          description:
            'Something owned is not proved to be gone. Maintenance goes on; the stop can be asked for again.',
          on: { 'shutdown.requested': 'draining', 'shutdown.abandoned': 'serving' },
        },
        drained: { description: 'Nothing owned is left; the process leaves.' },
      },
    },
    admission: {
      initial: 'closed',
      states: {
        closed: {
          description: 'Nothing new is launched: not yet, or not any more.',
          on: {
            'recovery.completed': [{ guard: 'pausedBefore', target: 'paused' }, { target: 'open' }],
            'shutdown.abandoned': 'paused',
            'store.recovered': { guard: stateIn({ lifecycle: 'degraded' }), target: 'open' },
          },
        },
        open: {
          description: 'Launches are admitted.',
          on: { 'admission.paused': 'paused', 'shutdown.requested': 'closed', 'store.failed': 'closed' },
        },
        paused: {
          description: 'An operator keeps new launches back.',
          on: { 'admission.resumed': 'open', 'shutdown.requested': 'closed' },
        },
      },
    },
    maintenance: {
      description: 'Runs in every state of the lifecycle: what lives is watched also while a stop is blocked.',
      invoke: [
        { src: 'receiptWatcher', systemId: 'receiptWatcher' },
        { src: 'observationLane', systemId: 'observationLane' },
        { src: 'deadlineService', systemId: 'deadlineService' },
        { src: 'sessionDeadlines', systemId: 'sessionDeadlines' },
      ],
      on: {
        'receipt.reported': { actions: { type: 'tellReceipt', params: ({ event }) => ({ report: event.report }) } },
        'lane.reported': { actions: { type: 'tellLane', params: ({ event }) => ({ report: event.report }) } },
        'deadline.reported': { actions: { type: 'tellDeadline', params: ({ event }) => ({ report: event.report }) } },
        'sessionDeadline.reported': {
          actions: { type: 'tellSessionDeadline', params: ({ event }) => ({ report: event.report }) },
        },
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

/** Whether everything that is owned is being ended, or has been, so that the daemon may go. */
export const isEnding = (root: Root): boolean => {
  const snapshot = root.getSnapshot();
  return snapshot.matches({ lifecycle: 'draining' }) || snapshot.matches({ lifecycle: 'drained' });
};

/** `open`, `paused` or `closed`. */
export const admissionOf = (root: Root): 'open' | 'paused' | 'closed' => root.getSnapshot().value.admission;
