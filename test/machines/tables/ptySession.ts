/** The PTY session (section C.6 with its amended rows), as data. */
import type { Payload } from '../../../machines/events/catalogue.ts';
import { ptySessionMachine } from '../../../machines/ptySession.ts';
import type { SessionContext } from '../../../machines/ptySessionContext.ts';
import { sessionInput, sessionSamples } from '../support/sessionSamples.ts';
import { type Row, row, type Table } from '../support/table.ts';

const firstFailure = ['recordFirstFailure'];
const final = 'workload.final';

const launchingRows: readonly Row[] = [
  row('workload.launching', 'launch.releaseCommitted', { to: 'workload.running', ids: ['GRD-07'] }),
  row('workload.launching', 'launch.failed', { to: final, actions: firstFailure, ids: ['PTY-06'] }),
  row('workload.launching', 'stop.requested', { to: 'workload.ending', actions: firstFailure, ids: ['PTY-04'] }),
  row('workload.launching', 'deadline.reached', {
    guards: ['deadlineStillDue'],
    to: 'workload.ending',
    actions: firstFailure,
    ids: ['PTY-09'],
  }),
];

const runningRows: readonly Row[] = [
  row('workload.running', 'result.reported', {
    guards: ['schemaValid'],
    to: 'workload.ending',
    actions: ['recordResult'],
    leaves: ({ structured, firstFailure }: SessionContext) => structured !== null && firstFailure === null,
    ids: ['PTY-03'],
  }),
  row('workload.running', 'result.reported', {
    to: 'workload.ending',
    actions: firstFailure,
    leaves: (context: SessionContext) => context.structured === null && context.firstFailure !== null,
    ids: ['PTY-03'],
  }),
  row('workload.running', 'deadline.reached', {
    guards: ['deadlineStillDue'],
    to: 'workload.ending',
    actions: firstFailure,
    ids: ['PTY-04', 'PTY-09'],
  }),
  row('workload.running', 'capture.fault', { to: 'workload.ending', actions: firstFailure, ids: ['PTY-04'] }),
  row('workload.running', 'stop.requested', { to: 'workload.ending', actions: firstFailure, ids: ['PTY-04'] }),
  row('workload.running', 'workload.statusReceipt', {
    guards: ['statusAuthentic'],
    to: final,
    actions: ['recordStatus'],
    ids: ['PTY-02'],
  }),
  row('workload.running', 'workload.endedWithoutStatus', {
    to: 'workload.indeterminate',
    actions: firstFailure,
    ids: ['PTY-02'],
  }),
  row('workload.running.working', 'session.inputNeeded', { to: 'workload.running.needsInput' }),
  row('workload.running.working', 'session.output', { actions: ['noteActivity'], ids: ['PTY-09'] }),
  row('workload.running.needsInput', 'session.inputSent', { to: 'workload.running.working' }),
  row('workload.running.needsInput', 'session.output', {
    to: 'workload.running.working',
    actions: ['noteActivity'],
  }),
];

const endingRows: readonly Row[] = [
  row('workload.ending', 'launch.failed', { to: final, actions: ['appendFault'], ids: ['L-15'] }),
  row('workload.ending', 'workload.endedWithoutStatus', {
    to: 'workload.indeterminate',
    actions: ['appendFault'],
    ids: ['L-15'],
  }),
  row('workload.ending', 'workload.statusReceipt', {
    guards: ['statusAuthentic'],
    to: final,
    actions: ['recordStatus'],
    ids: ['PTY-02', 'PTY-03'],
  }),
  row('workload.ending', 'deadline.reached', { actions: ['appendFault'], ids: ['PTY-06'] }),
  row('workload.ending', 'capture.fault', { actions: ['appendFault'], ids: ['PTY-06'] }),
  row('workload.indeterminate', 'workload.statusReceipt', {
    guards: ['statusAuthentic'],
    to: final,
    actions: ['recordStatus'],
    ids: ['PTY-02'],
  }),
  // A stop that comes while the end is under way, or over, is no mistake of whoever asks (amended row).
  ...['ending', 'final', 'indeterminate'].map((state) =>
    row(`workload.${state}`, 'stop.requested', { actions: ['noop'] }),
  ),
];

/** Beyond the table of C.6: what its catalogue calls journal only has to be taken somewhere, or it is refused (PTY-08). */
const journalRows: readonly Row[] = [
  ...['launching', 'running', 'ending'].map((state) =>
    row(`workload.${state}`, 'session.resized', { actions: ['resize'], ids: ['PTY-08'] }),
  ),
  row('workload', 'session.inputSent', { actions: ['noop'], ids: ['PTY-08'] }),
];

const captureRows: readonly Row[] = [
  row('capture.capturing', 'capture.drainStarted', { to: 'capture.draining', ids: ['PTY-07'] }),
  row('capture.capturing', 'capture.fault', {
    to: 'capture.incomplete',
    actions: ['recordCaptureFault'],
    ids: ['PTY-10'],
  }),
  row('capture.draining', 'capture.finished', {
    guards: ['isUnrecorded'],
    to: 'capture.unrecorded',
    actions: ['recordCapture'],
    ids: ['PRIV-02'],
  }),
  row('capture.draining', 'capture.finished', {
    guards: ['captureEof'],
    to: 'capture.complete',
    actions: ['recordCapture'],
    ids: ['PTY-07'],
  }),
  row('capture.draining', 'capture.finished', {
    to: 'capture.incomplete',
    actions: ['recordCapture'],
    ids: ['PTY-07'],
  }),
  row('capture.draining', 'capture.fault', {
    to: 'capture.incomplete',
    actions: ['recordCaptureFault'],
    ids: ['PTY-10'],
  }),
];

const scopeRows: readonly Row[] = [
  ...['unsettled', 'unverified'].map((state) =>
    row(`scope.${state}`, 'scope.exitProved', { guards: ['scopeMatches'], to: 'scope.proved', ids: ['PTY-05'] }),
  ),
  row('scope.unsettled', 'scope.unverified', {
    guards: ['scopeMatches'],
    to: 'scope.unverified',
    actions: ['appendFault'],
    ids: ['PTY-05'],
  }),
];

const terminal = { tags: ['terminal'] };
const limits: Payload<'session.opened'>['deadlines'] = { hardMs: 60_000, idleMs: 30_000, startupMs: 10_000 };

export const ptySessionTable: Table = {
  name: 'ptySession',
  machine: ptySessionMachine,
  states: {
    '': { parallel: true },
    workload: { initial: 'launching' },
    'workload.launching': {},
    'workload.running': { initial: 'working' },
    'workload.running.working': {},
    'workload.running.needsInput': {},
    'workload.ending': {},
    'workload.final': terminal,
    'workload.indeterminate': terminal,
    capture: { initial: 'capturing' },
    'capture.capturing': {},
    'capture.draining': {},
    'capture.complete': terminal,
    'capture.unrecorded': terminal,
    'capture.incomplete': terminal,
    scope: { initial: 'unsettled' },
    'scope.unsettled': {},
    'scope.unverified': {},
    'scope.proved': terminal,
  },
  rows: [...launchingRows, ...runningRows, ...endingRows, ...journalRows, ...captureRows, ...scopeRows],
  guards: {
    deadlineStillDue: (is) => !is('no limits') && !is('stale') && !(is('for the start') && is('has output')),
    schemaValid: (is) => !is('invalid'),
    statusAuthentic: (is) => !is('forged'),
    isUnrecorded: (is) => is('not recorded') && !is('cut short'),
    captureEof: (is) => !is('cut short'),
    scopeMatches: (is) => !is('another scope'),
  },
  factsOf: ({ deadlines, activity, recorded }: SessionContext) => [
    ...(recorded ? [] : ['not recorded']),
    ...(Object.keys(deadlines).length === 0 ? ['no limits'] : []),
    ...(activity.seq > 0 ? ['has output'] : []),
  ],
  starts: [
    { name: 'limited', input: sessionInput({ deadlines: limits }) },
    { name: 'without limits', input: sessionInput() },
    { name: 'not recorded', input: sessionInput({ recorded: false }) },
  ],
  samples: sessionSamples,
};
