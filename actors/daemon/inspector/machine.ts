/**
 * The life of the inspector inside of the daemon: off until an operator asks for it, and off again when they say so or
 * when it cannot be kept up. It is a child of the root, so that it ends with the daemon whatever it is doing.
 */
import { assign, fromPromise, setup } from 'xstate';
import type { InspectorPlace } from './port.ts';

interface InspectorContext {
  readonly place: InspectorPlace | null;
  /** Why it is off although somebody wanted it. */
  readonly failure: Error | null;
  /** Since it was asked for. */
  readonly restarts: number;
  /** Somebody closed it while its port was being opened: it is closed as soon as there is something to close. */
  readonly isDismissed: boolean;
}

export type InspectorEvent =
  | { readonly type: 'inspector.requested'; readonly place: InspectorPlace }
  | { readonly type: 'inspector.dismissed' };

/** What took it down so often takes it down again. */
const mostRestarts = 3;

const failureIn = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** Stands where a step is provided later; without one nothing ever comes of it. */
const unprovided = fromPromise<number, InspectorPlace>(() => new Promise(() => {}));

const inspectorSetup = setup({
  types: { context: {} as InspectorContext, events: {} as InspectorEvent },
  actors: {
    /** Resolves with the port that was got. */
    listen: unprovided,
    /** Rejects with what ended it. */
    watch: fromPromise<never, void>(() => new Promise(() => {})),
    /** Resolves when the port is free. */
    shut: fromPromise<void, void>(() => new Promise(() => {})),
  },
  guards: {
    mayTryAgain: ({ context }) => context.restarts < mostRestarts,
    isDismissed: ({ context }) => context.isDismissed,
  },
  actions: {
    want: assign(({ event }) =>
      event.type === 'inspector.requested'
        ? { place: event.place, failure: null, restarts: 0, isDismissed: false }
        : {},
    ),
    dismiss: assign({ isDismissed: true }),
    keepPort: assign((_, place: InspectorPlace) => ({ place })),
    countRestart: assign(({ context }) => ({ restarts: context.restarts + 1 })),
    noteFailure: assign((_, { error }: { readonly error: unknown }) => ({ failure: failureIn(error) })),
  },
});

export const inspectorMachine = inspectorSetup.createMachine({
  id: 'inspector',
  initial: 'off',
  context: { place: null, failure: null, restarts: 0, isDismissed: false },
  states: {
    off: {
      description: 'Nobody has asked for it.',
      on: { 'inspector.requested': { target: 'opening', actions: 'want' } },
    },
    opening: {
      description: 'Its port is being opened.',
      on: { 'inspector.dismissed': { actions: 'dismiss' } },
      invoke: {
        src: 'listen',
        input: ({ context }) => context.place ?? { tcpPort: 0 },
        onDone: [
          { guard: 'isDismissed', target: 'closing' },
          {
            target: 'serving',
            // A restart comes back where pages look for it.
            actions: { type: 'keepPort', params: ({ event }) => ({ tcpPort: event.output }) },
          },
        ],
        onError: {
          target: 'off',
          actions: { type: 'noteFailure', params: ({ event }) => ({ error: event.error }) },
        },
      },
    },
    serving: {
      description: 'Pages may look.',
      on: { 'inspector.dismissed': 'closing' },
      invoke: {
        src: 'watch',
        onError: [
          { guard: 'mayTryAgain', target: 'opening', actions: 'countRestart' },
          { target: 'off', actions: { type: 'noteFailure', params: ({ event }) => ({ error: event.error }) } },
        ],
      },
    },
    closing: {
      description: 'Whoever looks is told, and the port given back.',
      invoke: {
        src: 'shut',
        onDone: 'off',
        onError: { target: 'off', actions: { type: 'noteFailure', params: ({ event }) => ({ error: event.error }) } },
      },
    },
  },
});
