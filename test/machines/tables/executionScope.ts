/** The execution scope (section C.5 with its amended rows), as data. */
import { executionScopeMachine } from '../../../machines/executionScope.ts';
import type { ScopeContext } from '../../../machines/executionScopeParts.ts';
import { boot, guardian, slots, workload } from '../support/evidence.ts';
import { scopeInput, scopeSamples } from '../support/scopeSamples.ts';
import { and, type GuardTerm, inState, not, or, type Row, row, type Table } from '../support/table.ts';

const inCoverage = (...states: string[]): GuardTerm => or(...states.map((state) => inState(`coverage.${state}`)));
const inTree = inCoverage('gated', 'live', 'unverified');
const isIdle = inState('termination.idle');

const launchRows: readonly Row[] = [
  row('coverage', 'witness.merged', {
    guards: [not(inState('coverage.exitedProved'))],
    actions: ['mergeWitnesses'],
    ids: ['OWN-07', 'I-28'],
  }),
  row('coverage.requested', 'launch.prepared', {
    guards: ['platformCovered', isIdle],
    to: 'coverage.launching',
    actions: ['prepare'],
  }),
  ...['requested', 'launching'].flatMap((state) => [
    row(`coverage.${state}`, 'launch.notStarted', {
      to: 'coverage.neverLaunched',
      actions: ['recordNeverLaunched'],
      ids: ['GRD-08'],
    }),
    row(`coverage.${state}`, 'launch.abandoned', {
      guards: ['neverReleased'],
      to: 'coverage.neverLaunched',
      actions: ['recordNeverLaunched'],
      // Nothing can have been released before the gated state; what others launched gets no further than requested.
      moot: state === 'requested' ? [] : ['neverReleased'],
      ids: ['GRD-07'],
    }),
  ]),
  row('coverage.requested', 'scope.registeredExternally', {
    to: 'coverage.unverified.gap',
    actions: ['recordExternal'],
    ids: ['GRD-11'],
  }),
  row('coverage.launching', 'guardian.attached', { to: 'coverage.gated', actions: ['attach'] }),
  row('coverage.launching', 'coverage.gap', { to: 'coverage.unverified.gap', actions: ['recordGap'] }),
];

const gatedRows: readonly Row[] = [
  row('coverage.gated', 'launch.abandoned', {
    guards: ['neverReleased'],
    to: 'coverage.neverLaunched',
    actions: ['recordNeverLaunched'],
    moot: ['neverReleased'],
    ids: ['GRD-06'],
  }),
  row('coverage.gated', 'launch.releaseCommitted', {
    guards: [isIdle],
    to: 'coverage.live',
    actions: ['markReleased', 'requestGate'],
    ids: ['GRD-07'],
  }),
  row('coverage.gated', 'guardian.exitReceipt', {
    guards: ['receiptAuthentic', 'receiptComplete'],
    to: 'coverage.neverLaunched',
    actions: ['recordNeverLaunched'],
    ids: ['GRD-06'],
  }),
  row('coverage.gated', 'boot.epochEnded', {
    guards: ['epochUniform'],
    to: 'coverage.exitedProved',
    actions: ['prove'],
    ids: ['OWN-05'],
  }),
  row('coverage.gated', 'coverage.gap', { to: 'coverage.unverified.gap', actions: ['recordGap'] }),
  row('coverage.gated', 'guardian.observed', {
    guards: ['observedAbsent'],
    to: 'coverage.unverified.gap',
    actions: ['recordGuardianGone'],
    ids: ['GRD-10'],
  }),
  row('coverage.gated', 'guardian.observed', { actions: ['recordGuardian'] }),
];

const liveRows: readonly Row[] = [
  row('coverage.live', 'guardian.observed', {
    guards: ['observedAlive'],
    actions: ['recordGuardian'],
    ids: ['OWN-06'],
  }),
  row('coverage.live', 'guardian.observed', {
    guards: ['observedAbsent'],
    to: 'coverage.unverified.gap',
    actions: ['recordGuardianGone'],
    ids: ['GRD-10'],
  }),
  row('coverage.live', 'guardian.observed', {
    to: 'coverage.unverified.transient',
    actions: ['recordGuardian'],
    ids: ['OWN-09'],
  }),
  row('coverage.live', 'guardian.exitReceipt', {
    guards: ['receiptAuthentic', 'receiptComplete'],
    to: 'coverage.exitedProved',
    actions: ['prove'],
    ids: ['OWN-05'],
  }),
  row('coverage.live', 'boot.epochEnded', {
    guards: ['epochUniform'],
    to: 'coverage.exitedProved',
    actions: ['prove'],
    ids: ['OWN-05'],
  }),
  row('coverage.live', 'coverage.gap', { to: 'coverage.unverified.gap', actions: ['recordGap'] }),
  row('coverage.live', 'launch.releaseUncertain', { actions: ['markUncertain'], ids: ['GRD-07'] }),
  row('coverage.live', 'residents.observed', {
    guards: ['hasResidents', inState('workload.finished')],
    actions: ['recordResidents'],
  }),
  row('coverage.live', 'sideEffect.committed', { actions: ['commitSideEffect'], ids: ['I-18'] }),
  row('coverage.live', 'sideEffect.done', { actions: ['finishSideEffect'], ids: ['I-18'] }),
];

const unverifiedRows: readonly Row[] = [
  row('coverage.unverified', 'launch.abandoned', {
    guards: ['platformCovered', 'neverReleased', 'guardianGone'],
    to: 'coverage.neverLaunched',
    actions: ['recordNeverLaunched'],
    // What others launched does not count as never released either.
    moot: ['platformCovered'],
    ids: ['GRD-07'],
  }),
  row('coverage.unverified', 'guardian.exitReceipt', {
    guards: ['receiptAuthentic', 'receiptComplete'],
    to: 'coverage.exitedProved',
    actions: ['prove'],
    ids: ['OWN-05'],
  }),
  row('coverage.unverified', 'boot.epochEnded', {
    guards: ['epochUniform'],
    to: 'coverage.exitedProved',
    actions: ['prove'],
    ids: ['OWN-05'],
  }),
  row('coverage.unverified.transient', 'guardian.observed', {
    guards: ['observedAlive', 'noGap'],
    to: 'coverage.live',
    actions: ['recordGuardian', 'withdrawAssumption'],
    ids: ['OWN-09', 'GRD-10'],
  }),
  row('coverage.unverified.transient', 'guardian.observed', {
    guards: ['observedAbsent'],
    to: 'coverage.unverified.gap',
    actions: ['recordGuardianGone'],
    ids: ['OWN-09'],
  }),
  row('coverage.unverified.transient', 'guardian.observed', { actions: ['recordGuardian'] }),
  row('coverage.unverified.transient', 'coverage.gap', { to: 'coverage.unverified.gap', actions: ['recordGap'] }),
  row('coverage.unverified.transient', 'end.assumed', {
    guards: ['notAssumed', 'inForeignNamespace'],
    actions: ['recordAssumption'],
    ids: ['GRD-10'],
  }),
  row('coverage.unverified.gap', 'end.assumed', {
    guards: ['isOwn', 'notAssumed'],
    actions: ['recordAssumption'],
    ids: ['GRD-10', 'I-17'],
  }),
  row('coverage.unverified.gap', 'coverage.gap', { actions: ['recordGap'] }),
  row('coverage.unverified.gap', 'enclosing.receiptAccepted', {
    guards: ['guardianGone', 'enclosingContains', 'noSurvivors'],
    to: 'coverage.exitedProved',
    actions: ['prove'],
    ids: ['REPL-02'],
  }),
];

const workloadRows: readonly Row[] = [
  row('workload.notReleased', 'launch.releaseCommitted', {
    guards: [inState('coverage.gated'), isIdle],
    to: 'workload.running',
  }),
  ...['notReleased', 'running'].flatMap((state) => [
    row(`workload.${state}`, 'workload.statusReceipt', {
      guards: ['receiptAuthentic'],
      to: 'workload.finished',
      actions: ['recordStatus'],
      ids: ['GRD-05'],
    }),
    row(`workload.${state}`, 'guardian.exitReceipt', {
      guards: ['receiptAuthentic', 'receiptComplete'],
      to: 'workload.finished',
      actions: ['recordStatus'],
      ids: ['GRD-05'],
    }),
  ]),
];

/** Whatever takes coverage to one of its ends settles the termination in the same step (I-39). */
const settlingRows: readonly Row[] = [
  row('termination', 'launch.notStarted', {
    guards: [inCoverage('requested', 'launching')],
    to: 'termination.settled',
    ids: ['I-39'],
  }),
  row('termination', 'launch.abandoned', {
    guards: [
      'neverReleased',
      or(
        inCoverage('requested', 'launching', 'gated'),
        and('platformCovered', 'neverReleased', 'guardianGone', inState('coverage.unverified')),
      ),
    ],
    to: 'termination.settled',
    moot: ['platformCovered'],
    ids: ['I-39'],
  }),
  row('termination', 'guardian.exitReceipt', {
    guards: ['receiptAuthentic', 'receiptComplete', inTree],
    to: 'termination.settled',
    ids: ['I-39'],
  }),
  row('termination', 'boot.epochEnded', { guards: ['epochUniform', inTree], to: 'termination.settled', ids: ['I-39'] }),
  row('termination', 'enclosing.receiptAccepted', {
    guards: ['guardianGone', 'enclosingContains', 'noSurvivors', inState('coverage.unverified.gap')],
    to: 'termination.settled',
    ids: ['I-39'],
  }),
];

const drain = ['requestDrain', 'offerDrain'];

const drainRows: readonly Row[] = [
  row('termination.idle', 'drain.requested', {
    guards: ['isOwn', 'notCommitted', inCoverage('requested', 'launching', 'gated', 'live', 'unverified')],
    to: 'termination.quiescing',
    actions: drain,
    // A scope that is over has no idle termination (I-39).
    moot: ['requested', 'launching', 'gated', 'live', 'unverified'].map((state) => `in coverage.${state}`),
    ids: ['I-18'],
  }),
  ...['quiescing', 'signalling', 'awaitingProof', 'settled'].map((state) =>
    row(`termination.${state}`, 'drain.requested', { actions: ['noop'] }),
  ),
  row('termination.stalled', 'drain.requested', {
    guards: ['notCommitted'],
    to: 'termination.quiescing',
    actions: drain,
    ids: ['I-18'],
  }),
  row('termination.quiescing', 'drain.quiesced', { to: 'termination.signalling' }),
  row('termination.signalling', 'drain.signalled', { to: 'termination.awaitingProof' }),
  ...['quiescing', 'signalling', 'awaitingProof'].map((state) =>
    row(`termination.${state}`, 'drain.budgetExhausted', { to: 'termination.stalled', ids: ['TIME-02'] }),
  ),
  ...['quiescing', 'signalling', 'awaitingProof'].map((state) =>
    row(`termination.${state}`, 'drain.inspectionFailed', { to: 'termination.stalled' }),
  ),
];

const released = { tags: ['capacityReleased', 'terminal'] };

export const executionScopeTable: Table = {
  name: 'executionScope',
  machine: executionScopeMachine,
  states: {
    '': { parallel: true },
    coverage: { initial: 'requested' },
    'coverage.requested': { entry: ['requestLaunch'] },
    'coverage.launching': {},
    'coverage.gated': {},
    'coverage.live': {},
    'coverage.unverified': { initial: 'transient' },
    'coverage.unverified.transient': {},
    'coverage.unverified.gap': {},
    'coverage.exitedProved': released,
    'coverage.neverLaunched': released,
    workload: { initial: 'notReleased' },
    'workload.notReleased': {},
    'workload.running': {},
    'workload.finished': {},
    termination: { initial: 'idle' },
    'termination.idle': {},
    'termination.quiescing': {},
    'termination.signalling': {},
    'termination.awaitingProof': {},
    'termination.stalled': {},
    'termination.settled': { tags: ['terminal'] },
  },
  rows: [...launchRows, ...gatedRows, ...liveRows, ...unverifiedRows, ...workloadRows, ...settlingRows, ...drainRows],
  guards: {
    platformCovered: (is) => !is('external'),
    neverReleased: (is) => !is('released') && !is('external'),
    guardianGone: (is) => is('guardian gone'),
    receiptAuthentic: (is) => is('attached') && !is('forged'),
    receiptComplete: (is) => !is('partial'),
    epochUniform: (is) => is('attached') && !is('mixed boots') && !is('same boot'),
    observedAlive: (is) => is('alive'),
    observedAbsent: (is) => is('absent'),
    isOwn: (is) => !is('of others'),
    notAssumed: (is) => !is('assumed'),
    inForeignNamespace: (is) => is('foreign namespace'),
    hasResidents: (is) => is('has residents'),
    noGap: (is) => !is('has gap'),
    enclosingContains: (is) => !is('not contained'),
    noSurvivors: (is) => !is('survivors'),
    notCommitted: (is) => !(is('publishing') && is('yielding')),
  },
  factsOf: (context: ScopeContext) => {
    const facts: Readonly<Record<string, boolean>> = {
      external: context.kind === 'external',
      'of others': context.controller !== null,
      attached: context.guardian !== null,
      released: context.released !== 'no',
      'guardian gone': context.guardianLast?.result === 'absent' || context.gaps.includes('guardian_gone'),
      'has gap': context.gaps.length > 0,
      'has residents': context.residents.length > 0,
      'left to residents': context.residentsOnly,
      assumed: context.assumed !== null,
      'foreign namespace': context.guardianLast?.reason === 'namespace_mismatch',
      publishing: context.openSideEffects.length > 0,
    };
    return Object.keys(facts).filter((fact) => facts[fact]);
  },
  starts: [
    ...(['guardian', 'effect', 'external'] as const).map((kind) => ({ name: kind, input: scopeInput({ kind }) })),
    { name: 'launched by others', input: scopeInput({ kind: 'external', controller: 'their-tool' }) },
    { name: 'residents', input: scopeInput({ residents: [{ name: 'tmux', stop: 'keep' }] }) },
    {
      name: 'a gap without the gap state',
      input: scopeInput(),
      restored: {
        value: { coverage: { unverified: 'transient' }, workload: 'running', termination: 'idle' },
        context: { guardian, workload, bootId: boot, slots, released: 'committed', gaps: ['inspection_gap'] },
      },
    },
  ],
  samples: scopeSamples,
};
