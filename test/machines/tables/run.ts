/** The run (section C.2), as data. */
import type { Payload } from '../../../machines/events/catalogue.ts';
import type { ProcessIdentity } from '../../../machines/identity.ts';
import { type RunContext, runMachine } from '../../../machines/run.ts';
import { boot, digestOf, laterBoot, named, sampledAt, statusReceipt, stranger, workload } from '../support/evidence.ts';
import { not, row, type Sample, type Table } from '../support/table.ts';

export const runInput = (rest: Partial<Payload<'run.reserved'>> = {}): Payload<'run.reserved'> =>
  ({
    runId: 'R1',
    generationId: 'W1',
    goalRef: null,
    mode: 'managed',
    rootScopeId: 'S1',
    label: null,
    retryOf: null,
    origin: 'native',
    gaps: [],
    ...rest,
  }) as Payload<'run.reserved'>;

const bound = ({ identity }: RunContext): ProcessIdentity => identity ?? workload;

const bind =
  (change: Partial<ProcessIdentity>, rest: object = {}) =>
  (context: RunContext) => ({
    identity: { ...bound(context), ...change },
    identityDigest: digestOf('a'),
    verified: true,
    source: 'entrypoint',
    scopeId: 'S1',
    ...rest,
  });

/** One change per field that tells processes apart (ID-01). */
const bends: Readonly<Record<string, Partial<ProcessIdentity>>> = {
  pid: { pid: 102 },
  processToken: { processToken: '5002' },
  bootId: { bootId: laterBoot },
  namespace: { namespace: 'pid:1,time:1' },
  adapterEvidence: { adapterEvidence: '1' },
  installationId: { installationId: 'I2' as ProcessIdentity['installationId'] },
  platform: { platform: 'other' },
  evidenceVersion: { evidenceVersion: 2 },
};

/** A sample of the bound process at the version that the context has now. */
const observed = (rest: object) => (context: RunContext) => ({
  result: 'alive',
  reason: 'present',
  stable: true,
  identity: bound(context),
  basisVersion: context.identityVersion,
  sampledAt,
  contextDigest: '',
  ...rest,
});

/** The receipt of the bound process, changed. */
const receipt =
  (change: (identity: ProcessIdentity) => Parameters<typeof statusReceipt>[1], scopeId = 'S1') =>
  (context: RunContext) => {
    const identity = bound(context);
    return statusReceipt(scopeId, { workload: named(identity), bootId: identity.bootId, ...change(identity) });
  };

const samples: Sample[] = [
  { type: 'identity.bound', facts: [], payload: bind({}) },
  { type: 'identity.bound', facts: ['unverified'], payload: bind({}, { verified: false }) },
  { type: 'identity.bound', facts: ['unverified'], payload: bind({}, { source: 'guess' }) },
  ...Object.values(bends).map((change) => ({
    type: 'identity.bound',
    facts: ['other process'],
    payload: (context: RunContext) => bind(differing(change, bound(context)))(context),
  })),
  { type: 'reservation.reported', facts: ['another reservation'], payload: () => ({ label: 'x', retryOf: null }) },
  { type: 'reservation.reported', facts: ['another reservation'], payload: () => ({ label: null, retryOf: 'R9' }) },
  { type: 'reservation.reported', facts: [], payload: ({ label, retryOf }) => ({ label, retryOf }) },
  { type: 'run.placed', facts: ['another place'], payload: () => ({ generationId: 'W9' }) },
  { type: 'run.placed', facts: [], payload: ({ generationId }) => ({ generationId: generationId ?? 'W1' }) },
  { type: 'admission.uncertain', facts: [], payload: () => ({ reason: 'launcher_lost' }) },
  ...[
    { facts: [], payload: { gate: 'never_opened', scopeId: 'S1', proofEventId: 'e' } },
    { facts: ['gate may be open'], payload: { gate: 'unknown', scopeId: 'S1', proofEventId: 'e' } },
    { facts: ['gate may be open'], payload: { gate: 'never_opened', scopeId: 'S2', proofEventId: 'e' } },
  ].map(({ facts, payload }) => ({ type: 'admission.cancelled', facts, payload: () => payload })),
  { type: 'process.observed', facts: ['alive'], payload: observed({}) },
  { type: 'process.observed', facts: ['unknown'], payload: observed({ result: 'unknown', reason: 'proc_hidden' }) },
  { type: 'process.observed', facts: ['ended'], payload: observed({ result: 'ended', reason: 'absent' }) },
  { type: 'process.observed', facts: ['ended', 'unstable'], payload: observed({ result: 'ended', stable: false }) },
  ...['alive', 'unknown', 'ended'].flatMap((result) => [
    { type: 'process.observed', facts: [result, 'stale'], payload: observed({ result, basisVersion: 7 }) },
    { type: 'process.observed', facts: [result, 'stale'], payload: observed({ result, identity: stranger }) },
  ]),
  { type: 'workload.statusReceipt', facts: [], payload: receipt(() => ({})) },
  { type: 'workload.statusReceipt', facts: ['names another'], payload: receipt(() => ({}), 'S2') },
  ...[
    receipt(() => ({ authentic: false })),
    receipt(({ bootId }) => ({ bootId: `${bootId}-next` })),
    receipt((identity) => ({ workload: { ...named(identity), pid: identity.pid + 1 } })),
    receipt((identity) => ({ workload: { ...named(identity), start: `${identity.processToken}1` } })),
  ].map((payload) => ({ type: 'workload.statusReceipt', facts: ['names another'], payload })),
  ...['S1', 'S2'].map((scopeId) => ({
    type: 'scope.exitProved',
    facts: scopeId === 'S1' ? [] : ['another scope'],
    payload: () => ({ scopeId, proofKind: 'own_receipt', proofEventId: 'e' }),
  })),
  { type: 'exit.reported', facts: [], payload: () => ({ exitCode: 0, signal: null, reporter: 'launcher' }) },
  { type: 'deadline.reached', facts: [], payload: () => ({ deadlineId: 'd', bootId: boot }) },
];

/** The change, or another one of the same field where the identity has that value already. */
function differing(change: Partial<ProcessIdentity>, identity: ProcessIdentity): Partial<ProcessIdentity> {
  const [field, value] = Object.entries(change)[0] as [keyof ProcessIdentity, unknown];
  if (identity[field] !== value) return change;
  return { [field]: typeof value === 'number' ? value + 1 : `${String(value)}9` };
}

export const runTable: Table = {
  name: 'run',
  machine: runMachine,
  states: {
    '': { parallel: true },
    lifecycle: { initial: 'reserved' },
    'lifecycle.reserved': { initial: 'pending' },
    'lifecycle.reserved.pending': {},
    'lifecycle.reserved.unresolved': {},
    'lifecycle.bound': {},
    'lifecycle.ended': { tags: ['terminal'] },
    'lifecycle.cancelled': { tags: ['terminal'] },
    exitReport: { initial: 'absent' },
    'exitReport.absent': {},
    'exitReport.reported': {},
  },
  rows: [
    row('lifecycle', 'reservation.reported', {
      ids: ['RUN-08'],
      guards: ['missesReservation'],
      actions: ['recordReservation'],
    }),
    row('lifecycle', 'reservation.reported', {
      ids: ['RUN-08'],
      guards: ['isObserved', 'sameReservation'],
      actions: ['noop'],
    }),
    row('lifecycle', 'run.placed', {
      ids: ['RUN-08'],
      guards: ['isObserved', 'hasNoPlace'],
      actions: ['recordPlace'],
    }),
    row('lifecycle', 'run.placed', { ids: ['RUN-08'], guards: ['samePlace'], actions: ['noop'] }),
    row('lifecycle.reserved', 'identity.bound', {
      ids: ['RUN-02'],
      guards: ['identityVerified'],
      to: 'lifecycle.bound',
      actions: ['bindIdentity'],
    }),
    row('lifecycle.reserved', 'admission.cancelled', {
      ids: ['RUN-04'],
      guards: ['managed', 'gateNeverOpened'],
      to: 'lifecycle.cancelled',
      actions: ['recordCancel'],
    }),
    row('lifecycle.reserved.pending', 'admission.uncertain', {
      ids: ['RUN-05'],
      to: 'lifecycle.reserved.unresolved',
      actions: ['recordUncertain'],
    }),
    row('lifecycle.reserved.unresolved', 'admission.uncertain', { ids: ['RUN-05'], actions: ['recordUncertain'] }),
    row('lifecycle.bound', 'identity.bound', { ids: ['RUN-02'], guards: ['identitySame'], actions: ['noop'] }),
    row('lifecycle.bound', 'process.observed', {
      ids: ['RUN-03'],
      guards: ['observedEnded', 'sampleBasisCurrent'],
      to: 'lifecycle.ended',
      actions: ['recordObservation', 'recordEnd'],
    }),
    row('lifecycle.bound', 'process.observed', {
      ids: ['OBS-08'],
      guards: ['sampleBasisCurrent', not('claimsEnded')],
      actions: ['recordObservation'],
    }),
    row('lifecycle.bound', 'workload.statusReceipt', {
      ids: ['RUN-03'],
      guards: ['receiptNamesProcess'],
      to: 'lifecycle.ended',
      actions: ['recordEnd'],
    }),
    row('lifecycle.bound', 'scope.exitProved', {
      ids: ['RUN-03'],
      guards: ['rootScope'],
      to: 'lifecycle.ended',
      actions: ['recordEnd'],
    }),
    row('exitReport.absent', 'exit.reported', {
      ids: ['RUN-07'],
      to: 'exitReport.reported',
      actions: ['recordExitReport'],
    }),
  ],
  guards: {
    identityVerified: (is) => !is('unverified'),
    identitySame: (is) => !is('other process'),
    managed: (is) => !is('observing'),
    isObserved: (is) => is('observing'),
    missesReservation: (is) => is('unreserved'),
    sameReservation: (is) => !is('another reservation'),
    hasNoPlace: (is) => is('unplaced'),
    samePlace: (is) => !is('another place') && !is('unplaced'),
    gateNeverOpened: (is) => !is('gate may be open'),
    observedEnded: (is) => is('ended') && !is('unstable'),
    claimsEnded: (is) => is('ended'),
    sampleBasisCurrent: (is) => !is('stale'),
    receiptNamesProcess: (is) => !is('names another'),
    rootScope: (is) => !is('another scope'),
  },
  factsOf: ({ mode, generationId, gaps }: RunContext) => [
    ...(gaps.includes('reserve_missing') ? ['unreserved'] : []),
    ...(mode === 'observe' ? ['observing'] : []),
    ...(generationId === null ? ['unplaced'] : []),
  ],
  starts: [
    { name: 'managed', input: runInput() },
    { name: 'managed without a place', input: runInput({ generationId: null }) },
    { name: 'observed', input: runInput({ mode: 'observe', origin: 'observed' }) },
    {
      name: 'observed without a place',
      input: runInput({ mode: 'observe', origin: 'observed', generationId: null, gaps: ['place_missing'] }),
    },
    {
      name: 'observed without a reservation',
      input: runInput({ mode: 'observe', origin: 'observed', gaps: ['reserve_missing'] }),
    },
  ],
  samples,
};
