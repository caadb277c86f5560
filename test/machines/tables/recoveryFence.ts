/** The recovery fence (section C.8), as data, with the rows that a retry and a first worker need. */
import { recoveryFenceMachine } from '../../../machines/recoveryFence.ts';
import type { FenceContext } from '../../../machines/recoveryFenceParts.ts';
import { not, type Row, row, type Table } from '../support/table.ts';
import { fenceInput, fenceSamples } from '../support/workerSamples.ts';

const retain = ['retain'];

const rows: readonly Row[] = [
  row('idle', 'recovery.started', {
    guards: ['isOldGone'],
    to: 'rescanning',
    actions: ['begin'],
    leaves: ({ old }: FenceContext) => old !== null && old.settledBy !== null,
    ids: ['REC-03', 'REC-09'],
  }),
  row('idle', 'recovery.started', { guards: ['hasOneOld'], to: 'stoppingOld', actions: ['begin'], ids: ['REC-02'] }),
  row('idle', 'recovery.started', { guards: ['hasNoOld'], to: 'rescanning', actions: ['begin'], ids: ['REC-03'] }),
  row('idle', 'recovery.started', { to: 'refused', actions: ['begin'], ids: ['REC-04'] }),
  row('idle', 'worker.scopeSettled', {
    guards: ['isReplacementScope'],
    actions: ['noteReplacementSettled'],
    ids: ['REC-09'],
  }),
  row('idle', 'worker.scopeSettled', { actions: ['noop'] }),
  row('stoppingOld', 'worker.scopeSettled', {
    guards: ['isOldScope'],
    to: 'rescanning',
    actions: ['noteOldSettled'],
    ids: ['REC-02'],
  }),
  row('stoppingOld', 'recovery.failed', { to: 'refused', actions: retain, ids: ['REC-06'] }),
  row('rescanning', 'ownership.rescanned', { guards: ['everyScopeProved'], to: 'launchPermitted', ids: ['REC-02'] }),
  row('rescanning', 'ownership.rescanned', { to: 'refused', actions: retain, ids: ['REC-04', 'REC-06'] }),
  row('rescanning', 'recovery.failed', { to: 'refused', actions: retain, ids: ['REC-06'] }),
  row('refused', 'worker.scopeSettled', { guards: ['isOldScope'], actions: ['noteOldSettled'], ids: ['REC-09'] }),
  row('refused', 'recovery.started', { guards: ['hasNoOld'], to: 'rescanning', actions: ['begin'], ids: ['REC-03'] }),
  row('refused', 'recovery.retry', {
    guards: ['isOldSettled'],
    to: 'rescanning',
    actions: ['countAttempt'],
    ids: ['REC-09'],
  }),
  row('refused', 'recovery.retry', { to: 'stoppingOld', actions: ['countAttempt'], ids: ['REC-09'] }),
  row('launchPermitted', 'ownership.rescanned', {
    guards: [not('everyScopeProved')],
    to: 'refused',
    actions: retain,
    ids: ['REC-04'],
  }),
  row('launchPermitted', 'replacement.launched', {
    guards: ['notOld', 'admissionEnabled', 'everyScopeProved'],
    to: 'awaitingTick',
    actions: ['setReplacement'],
    ids: ['REC-02', 'REC-04'],
  }),
  row('launchPermitted', 'recovery.failed', { to: 'refused', actions: retain, ids: ['REC-06'] }),
  row('awaitingTick', 'scheduler.tick', {
    guards: ['tickFromReplacement'],
    to: 'idle',
    actions: ['finish'],
    leaves: ({ old, attempts }: FenceContext) => old === null && attempts === 0,
    ids: ['REPL-07', 'REC-09'],
  }),
  row('awaitingTick', 'worker.scopeSettled', { guards: ['isReplacementScope'], actions: ['noteReplacementSettled'] }),
  row('awaitingTick', 'recovery.failed', {
    to: 'refused',
    actions: ['retain', 'promote'],
    leaves: ({ old, replacement }: FenceContext) => old !== null && replacement === null,
    ids: ['REC-06', 'REC-09'],
  }),
];

const settledOf = (worker: FenceContext['old'], name: string): string[] =>
  worker === null ? [] : [`${name} is ${worker.scopeId}`, ...(worker.settledBy === null ? [] : [`${name} is settled`])];

export const recoveryFenceTable: Table = {
  name: 'recoveryFence',
  machine: recoveryFenceMachine,
  states: {
    '': { initial: 'idle' },
    idle: {},
    stoppingOld: {},
    rescanning: {},
    refused: {},
    launchPermitted: {},
    awaitingTick: {},
  },
  rows,
  guards: {
    isOldGone: (is) =>
      !is('two live') &&
      is('replacement is settled') &&
      ((is('old K1') && is('replacement is S1')) || (is('old K2') && is('replacement is S2'))),
    hasOneOld: (is) => is('one old'),
    hasNoOld: (is) => is('no old'),
    isOldScope: (is) => (is('of S1') && is('old is S1')) || (is('of S2') && is('old is S2')),
    isReplacementScope: (is) => (is('of S1') && is('replacement is S1')) || (is('of S2') && is('replacement is S2')),
    isOldSettled: (is) => is('old is settled') || !(is('old is S1') || is('old is S2')),
    everyScopeProved: (is) => !is('unproved'),
    notOld: (is) => !(is('the old one again') && (is('old is S1') || is('old is S2'))),
    admissionEnabled: (is) => !is('not enabled'),
    tickFromReplacement: (is) =>
      (is('from K1') && is('replacement is S1')) || (is('from K2') && is('replacement is S2')),
  },
  factsOf: ({ old, replacement }: FenceContext) => [...settledOf(old, 'old'), ...settledOf(replacement, 'replacement')],
  starts: [{ name: 'established', input: fenceInput }],
  samples: fenceSamples,
};
