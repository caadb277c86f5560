/**
 * Guards and actions of the PTY session; the chart itself stands in ptySession.ts. No guard asks about another region:
 * what the agent achieved, what was recorded of it and whether its tree is gone are three facts (PTY-01).
 */
import { assertEvent, setup } from 'xstate';
import type { Payload } from './events/catalogue.ts';
import { resultOf, type WorkloadResult } from './evidence.ts';
import { failureIn, type SessionContext, type SessionEvent, withFailure, withFault } from './ptySessionContext.ts';
import { isStillDue } from './ptySessionDeadlines.ts';

/** Authentic statuses that say that the image never ran (ruling 7): the launch failed, whatever was committed. */
const neverRan: ReadonlySet<WorkloadResult['how']> = new Set<WorkloadResult['how']>(['notReleased', 'execFailed']);

const base = setup({
  types: { context: {} as SessionContext, events: {} as SessionEvent, input: {} as Payload<'session.opened'> },
  guards: {
    deadlineStillDue: ({ context, event }) => {
      assertEvent(event, 'deadline.reached');
      return isStillDue(context, event);
    },
    schemaValid: ({ event }) => {
      assertEvent(event, 'result.reported');
      return event.valid;
    },
    // The scope has compared the receipt with its slots and identities before it passed it on.
    statusAuthentic: ({ context, event }) => {
      assertEvent(event, 'workload.statusReceipt');
      return event.authentic && event.scopeId === context.scopeId;
    },
    isUnrecorded: ({ context, event }) => {
      assertEvent(event, 'capture.finished');
      return event.eof && !context.recorded;
    },
    captureEof: ({ event }) => {
      assertEvent(event, 'capture.finished');
      return event.eof;
    },
    scopeMatches: ({ context, event }) => {
      assertEvent(event, ['scope.exitProved', 'scope.unverified']);
      return event.scopeId === context.scopeId;
    },
  },
});

export const sessionSetup = base.extend({
  actions: {
    recordFirstFailure: base.assign(({ context, event }) => withFailure(context, failureIn(event))),
    appendFault: base.assign(({ context, event }) => withFault(context, failureIn(event))),
    recordResult: base.assign(({ event }) => {
      assertEvent(event, 'result.reported');
      return { structured: event.resultDigest };
    }),
    recordStatus: base.assign(({ context, event }) => {
      assertEvent(event, 'workload.statusReceipt');
      const failure = neverRan.has(event.how) ? withFailure(context, failureIn(event)) : {};
      return { status: resultOf(event), ...failure };
    }),
    /** A report that was overtaken by a later one changes nothing (CONC-04). */
    noteActivity: base.assign(({ context, event }) => {
      assertEvent(event, 'session.output');
      const { activitySeq: seq, bytes, sampledAt } = event;
      return seq > context.activity.seq ? { activity: { seq, bytes, sampledAt } } : {};
    }),
    resize: base.assign(({ event }) => {
      assertEvent(event, 'session.resized');
      return { cols: event.cols, rows: event.rows };
    }),
    recordCapture: base.assign(({ event }) => {
      assertEvent(event, 'capture.finished');
      const { eof, truncated, fault = null, bytes } = event;
      return { capture: { eof, truncated, fault, bytes } };
    }),
    recordCaptureFault: base.assign(({ context, event }) => {
      assertEvent(event, 'capture.fault');
      const { reason: fault, bytes = context.activity.bytes } = event;
      return { capture: { eof: false, truncated: true, fault, bytes } };
    }),
    noop: base.assign({}),
  },
});
