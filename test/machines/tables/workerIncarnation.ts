/** The scheduling worker (section C.7), as data. */
import { workerIncarnationMachine } from '../../../machines/workerIncarnation.ts';
import type { WorkerContext } from '../../../machines/workerIncarnationContext.ts';
import { inState, not, type Row, row, type Table } from '../support/table.ts';
import { workerInput, workerSamples } from '../support/workerSamples.ts';

const exact = ['tickExact', 'tickTargetCurrent'];
const reason = ['recordReason'];

const rows: readonly Row[] = [
  row('', 'worker.stopRequested', { to: 'stopping', actions: reason, ids: ['REC-02'] }),
  row('', 'scope.exitProved', { guards: ['scopeMatches', not(inState('exited'))], to: 'exited', ids: ['OWN-05'] }),
  row('', 'scope.unverified', {
    guards: ['scopeMatches', not(inState('exited'))],
    to: 'ownershipUnverified',
    actions: reason,
    ids: ['REC-04'],
  }),
  row('launching', 'worker.registered', {
    guards: ['tokenMatches'],
    to: 'starting',
    actions: ['register'],
    ids: ['WRK-01', 'WRK-03'],
  }),
  row('launching', 'worker.launchFailed', { to: 'stopping', actions: reason }),
  row('starting', 'scheduler.tick', {
    guards: exact,
    to: 'healthy',
    actions: ['recordTick'],
    ids: ['WRK-02', 'REPL-07'],
  }),
  row('starting', 'deadline.reached', { guards: ['startupStillDue'], to: 'suspect', ids: ['WRK-06', 'TIME-02'] }),
  row('starting', 'target.changed', { guards: ['isOtherTarget'], actions: ['retarget'], ids: ['WRK-04'] }),
  row('healthy', 'scheduler.tick', { guards: exact, actions: ['recordTick'], ids: ['WRK-02'] }),
  row('healthy', 'deadline.reached', { guards: ['silenceStillDue'], to: 'suspect', ids: ['WRK-06', 'TIME-02'] }),
  row('healthy', 'target.changed', {
    guards: ['isOtherTarget'],
    to: 'starting',
    actions: ['retarget'],
    ids: ['WRK-04'],
  }),
  row('suspect', 'scheduler.tick', { guards: exact, to: 'healthy', actions: ['recordTick'], ids: ['WRK-06'] }),
  row('suspect', 'target.changed', { guards: ['isOtherTarget'], actions: ['retarget'], ids: ['WRK-04'] }),
  // An end that is asked for while it is under way, or over, is no mistake of whoever asks.
  ...['stopping', 'exited', 'ownershipUnverified'].map((state) =>
    row(state, 'worker.stopRequested', { actions: ['noop'], ids: ['REC-02'] }),
  ),
];

export const workerIncarnationTable: Table = {
  name: 'workerIncarnation',
  machine: workerIncarnationMachine,
  states: {
    '': { initial: 'launching' },
    launching: {},
    starting: {},
    healthy: {},
    suspect: {},
    stopping: {},
    exited: { tags: ['terminal'] },
    ownershipUnverified: { tags: ['pendingOwnership'] },
  },
  rows,
  guards: {
    tokenMatches: (is) => !is('impostor'),
    tickExact: (is) => !is('inexact') && !is('unregistered'),
    tickTargetCurrent: (is) => !is('earlier target'),
    startupStillDue: (is) => is('startup') && !is('stale'),
    silenceStillDue: (is) => is('silence') && !is('stale'),
    isOtherTarget: (is) => is('to the second') !== is('aims at the second'),
    scopeMatches: (is) => !is('another scope'),
  },
  factsOf: ({ process, targetId }: WorkerContext) => [
    ...(process === null ? ['unregistered'] : []),
    ...(targetId === 'target-2' ? ['aims at the second'] : []),
  ],
  starts: [{ name: 'requested', input: workerInput() }],
  samples: workerSamples,
};
