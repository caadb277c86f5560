/** Context, guards and actions of a worker incarnation; the chart itself stands in workerIncarnation.ts. */
import { assertEvent, setup } from 'xstate';
import type { EventOf, Payload } from './events/catalogue.ts';
import { tickFault } from './workerHealth.ts';
import {
  type WorkerContext,
  type WorkerDeadline,
  type WorkerEvent,
  workerDeadline,
} from './workerIncarnationContext.ts';

const base = setup({
  types: { context: {} as WorkerContext, events: {} as WorkerEvent, input: {} as Payload<'worker.requested'> },
  guards: {
    tokenMatches: ({ context, event }) => {
      assertEvent(event, 'worker.registered');
      return (
        event.isRegisteredPeer &&
        event.launchTokenHash === context.launchTokenHash &&
        event.registrationId === context.registrationId &&
        event.scopeId === context.scopeId
      );
    },
    tickExact: ({ context, event }) => {
      assertEvent(event, 'scheduler.tick');
      return tickFault(context, event) === undefined;
    },
    tickTargetCurrent: ({ context, event }) => {
      assertEvent(event, 'scheduler.tick');
      return event.targetId === context.targetId;
    },
    startupStillDue: ({ context, event }) => {
      assertEvent(event, 'deadline.reached');
      return isStillDue(workerDeadline('startup', context), event);
    },
    silenceStillDue: ({ context, event }) => {
      assertEvent(event, 'deadline.reached');
      return isStillDue(workerDeadline('silence', context), event);
    },
    isOtherTarget: ({ context, event }) => {
      assertEvent(event, 'target.changed');
      return event.targetId !== context.targetId;
    },
    scopeMatches: ({ context, event }) => {
      assertEvent(event, ['scope.exitProved', 'scope.unverified']);
      return event.scopeId === context.scopeId;
    },
  },
});

/** Of this boot, with the basis it was armed with. Ticks that were not journaled are submitted before a silence is. */
const isStillDue = (armed: WorkerDeadline, reached: EventOf<'deadline.reached'>): boolean =>
  armed.kind === reached.kind &&
  armed.basisActivitySeq === reached.basisActivitySeq &&
  armed.bootId === reached.bootId &&
  armed.monoMs === reached.monoMs;

export const workerSetup = base.extend({
  actions: {
    register: base.assign(({ event }) => {
      assertEvent(event, 'worker.registered');
      return { process: event.process };
    }),
    recordTick: base.assign(({ event }) => {
      assertEvent(event, 'scheduler.tick');
      return { tick: { seq: event.seq, sampledAt: event.sampledAt } };
    }),
    retarget: base.assign(({ event }) => {
      assertEvent(event, 'target.changed');
      return { targetId: event.targetId, since: event.changedAt };
    }),
    recordReason: base.assign(({ context, event }) => ({ reason: context.reason ?? reasonOf(event) })),
    noop: base.assign({}),
  },
});

function reasonOf(event: WorkerEvent): string {
  switch (event.type) {
    case 'worker.launchFailed':
      return event.reasonCode;
    case 'worker.stopRequested':
    case 'scope.unverified':
      return event.reason;
    default:
      throw new Error(`${event.type} says nothing about why a worker is no longer relied upon`);
  }
}
