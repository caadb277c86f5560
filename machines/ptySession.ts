/**
 * The life of one terminal with an agent in it, from the durable intent to open it until everything about it is settled.
 * Its scope tells it of the launch, the status and the proof; the PTY host tells it of output and capture; agents, people
 * and clocks ask for its end. It never ends anything itself: entering `ending` asks its scope for the one drain (PTY-04).
 */
import type { SnapshotFrom } from 'xstate';
import { type ActorDefinition, linksOf, type PersistedSnapshot } from './definition.ts';
import type { Payload } from './events/catalogue.ts';
import { initialSessionContext } from './ptySessionContext.ts';
import { deadlinesOf, type SessionDeadline } from './ptySessionDeadlines.ts';
import { sessionSetup } from './ptySessionParts.ts';
import { structuralHash } from './structuralHash.ts';

export const ptySessionMachine = sessionSetup.createMachine({
  id: 'ptySession',
  version: '3',
  type: 'parallel',
  context: ({ input }) => initialSessionContext(input),
  states: {
    workload: {
      initial: 'launching',
      // What was typed may be told when the agent has ended meanwhile: it stands in the journal all the same (PTY-08).
      on: { 'session.inputSent': { actions: 'noop' } },
      states: {
        launching: {
          description: 'The gate is shut: the agent has not begun, and may never.',
          on: {
            'launch.releaseCommitted': { target: 'running' },
            'launch.failed': { target: 'final', actions: 'recordFirstFailure' },
            'stop.requested': { target: 'ending', actions: 'recordFirstFailure' },
            'deadline.reached': { guard: 'deadlineStillDue', target: 'ending', actions: 'recordFirstFailure' },
            'session.resized': { actions: 'resize' },
          },
        },
        running: {
          initial: 'working',
          on: {
            'result.reported': [
              { guard: 'schemaValid', target: 'ending', actions: 'recordResult' },
              { target: 'ending', actions: 'recordFirstFailure' },
            ],
            'deadline.reached': { guard: 'deadlineStillDue', target: 'ending', actions: 'recordFirstFailure' },
            'capture.fault': { target: 'ending', actions: 'recordFirstFailure' },
            'stop.requested': { target: 'ending', actions: 'recordFirstFailure' },
            'workload.statusReceipt': { guard: 'statusAuthentic', target: 'final', actions: 'recordStatus' },
            'workload.endedWithoutStatus': { target: 'indeterminate', actions: 'recordFirstFailure' },
            'session.resized': { actions: 'resize' },
          },
          states: {
            working: {
              description: 'The agent works, or is taken to. It ends by itself, by its result, or by being asked to.',
              on: {
                'session.inputNeeded': { target: 'needsInput' },
                'session.output': { actions: 'noteActivity' },
              },
            },
            needsInput: {
              description: 'The agent has asked for somebody. An answer or further output leads back.',
              on: {
                'session.inputSent': { target: 'working' },
                'session.output': { target: 'working', actions: 'noteActivity' },
              },
            },
          },
        },
        ending: {
          description:
            'The scope has been asked to drain. Only the status of the agent, or the certainty that none will come, leads out.',
          on: {
            'launch.failed': { target: 'final', actions: 'appendFault' },
            'workload.endedWithoutStatus': { target: 'indeterminate', actions: 'appendFault' },
            'workload.statusReceipt': { guard: 'statusAuthentic', target: 'final', actions: 'recordStatus' },
            'deadline.reached': { actions: 'appendFault' },
            'capture.fault': { actions: 'appendFault' },
            'stop.requested': { actions: 'noop' },
            'session.resized': { actions: 'resize' },
          },
        },
        final: {
          tags: 'terminal',
          description: 'How the agent ended is known, or that it never ran.',
          on: { 'stop.requested': { actions: 'noop' } },
        },
        indeterminate: {
          tags: 'terminal',
          description: 'The agent is gone and nobody recorded how. A receipt that turns up late still counts.',
          on: {
            'workload.statusReceipt': { guard: 'statusAuthentic', target: 'final', actions: 'recordStatus' },
            'stop.requested': { actions: 'noop' },
          },
        },
      },
    },
    capture: {
      initial: 'capturing',
      states: {
        capturing: {
          description: 'Output is read and recorded, also while nobody holds the terminal for a moment (PTY-07).',
          on: {
            'capture.drainStarted': { target: 'draining' },
            'capture.fault': { target: 'incomplete', actions: 'recordCaptureFault' },
          },
        },
        draining: {
          description: 'The agent has ended; what is left in the terminal is read, for a bounded time.',
          on: {
            'capture.finished': [
              { guard: 'isUnrecorded', target: 'unrecorded', actions: 'recordCapture' },
              { guard: 'captureEof', target: 'complete', actions: 'recordCapture' },
              { target: 'incomplete', actions: 'recordCapture' },
            ],
            'capture.fault': { target: 'incomplete', actions: 'recordCaptureFault' },
          },
        },
        complete: { tags: 'terminal', description: 'The end marker was read.' },
        unrecorded: {
          tags: 'terminal',
          description: 'The end marker was read, and by choice nothing is kept (PRIV-02).',
        },
        incomplete: { tags: 'terminal', description: 'Reading ended before the end marker, so output may be missing.' },
      },
    },
    scope: {
      initial: 'unsettled',
      states: {
        unsettled: {
          description: 'The tree of the agent may be alive: its scope has no proof yet that nobody of it is.',
          on: {
            'scope.exitProved': { guard: 'scopeMatches', target: 'proved' },
            'scope.unverified': { guard: 'scopeMatches', target: 'unverified', actions: 'appendFault' },
          },
        },
        unverified: {
          description:
            'Proof is missing or its drain has stalled. Capacity and artifacts are kept; only a proof leads out.',
          on: { 'scope.exitProved': { guard: 'scopeMatches', target: 'proved' } },
        },
        proved: { tags: 'terminal', description: 'No process of the tree remains, by proof.' },
      },
    },
  },
});

export type SessionSnapshot = SnapshotFrom<typeof ptySessionMachine>;

/** Whether nothing about the session is open any more, over all three regions (ruling 14). */
export const isSessionSettled = (session: SessionSnapshot): boolean =>
  isWorkloadOver(session) && isCaptureOver(session) && session.value.scope === 'proved';

/** The agent has ended, whether or not anybody recorded how. */
export const isWorkloadOver = ({ value: { workload } }: SessionSnapshot): boolean =>
  workload === 'final' || workload === 'indeterminate';

/** Nothing more is recorded of what it said. */
export const isCaptureOver = ({ value: { capture } }: SessionSnapshot): boolean =>
  capture === 'complete' || capture === 'incomplete' || capture === 'unrecorded';

/** Digest of the result that counts, or null: valid, finalised by an authentic status, and before any failure (I-33). */
export function acceptableResult({ value, context }: SessionSnapshot): string | null {
  const isFinalised = value.workload === 'final' && context.status !== null;
  return isFinalised && context.firstFailure === null ? context.structured : null;
}

/**
 * Whether the work was cut off: its terminal lost its holder, or it went and nobody recorded how (PTY-10). The hang-up
 * and the loss that it follows from are told by two witnesses, in either order. Work that had brought its result, or was
 * being ended, was not.
 */
export function isInterrupted(session: SessionSnapshot): boolean {
  const { firstFailure, capture, structured } = session.context;
  if (!isWorkloadOver(session) || structured !== null) return false;
  if (firstFailure?.cause === 'status') return true;
  return capture?.fault === 'hostLost' && (firstFailure === null || firstFailure.cause === 'capture');
}

/** Whether output would change anything: the first ends the wait for a start, and any answers a call for input. */
export const isOutputNews = ({ value, context }: SessionSnapshot): boolean =>
  typeof value.workload === 'object' && (context.activity.seq === 0 || value.workload.running === 'needsInput');

/**
 * What the time service has to hold for a session; nothing once its end is under way. Output that was not journaled is
 * submitted before an idle deadline that it has outdated, which moves that deadline instead of reaching it.
 */
export const armedDeadlines = (session: SessionSnapshot): readonly SessionDeadline[] =>
  session.matches({ workload: 'launching' }) || session.matches({ workload: 'running' })
    ? deadlinesOf(session.context)
    : [];

/** Before version 3 everything that a terminal said was recorded. */
const withRecording = (row: PersistedSnapshot): PersistedSnapshot => ({
  ...row,
  context: { ...row.context, recorded: true },
});

/** A session holds no ownership of its own: what its scope holds is assessed there (OWN-01, PTY-05). */
export const ptySessionDefinition: ActorDefinition<SessionSnapshot> = {
  kind: 'ptySession',
  plane: 'local',
  machine: ptySessionMachine,
  version: 3,
  structuralHash: structuralHash(ptySessionMachine),
  isSettled: isSessionSettled,
  isReleased: isSessionSettled,
  inputOf: (event) => event as unknown as Payload<'session.opened'>,
  links: ({ context }) => linksOf({ runId: context.runId, scopeId: context.scopeId }),
  // Rows of version 1 have the same shape: the chart takes word of input in more states since.
  upcasters: { 1: (row) => row, 2: withRecording },
};
