/** The worktree generation (section C.3), as data. */

import { isAnyNoted } from '../../../machines/notedRuns.ts';
import { worktreeGenerationMachine } from '../../../machines/worktreeGeneration.ts';
import type { GenerationContext } from '../../../machines/worktreeGenerationBlockers.ts';
import {
  asked,
  contractOf,
  gapNamed,
  generationInput,
  otherGuardian,
  ourGuardian,
  quarantined,
  receiptOfExecutor,
} from '../support/generationEvidence.ts';
import { inState, not, or, row, type Sample, type Table } from '../support/table.ts';

/** The story has one admitted run R1 with one scope S1, one noted run N1 and one gap; X stands for anything else. */
function factsOf({
  admitted,
  noted,
  notedSettled,
  coverageGaps,
  coveredGuardians,
  origin,
}: GenerationContext): string[] {
  const run = admitted.R1;
  const scope = run?.scopes.S1;
  const guardian = run?.guardians.S1;
  const isCovered = guardian !== undefined && guardian !== null && coveredGuardians.includes(guardian);
  return [
    origin === 'native' ? '' : 'made by others',
    run ? `R1 ${run.run}` : '',
    scope ? `S1 ${scope}` : '',
    scope && !isCovered ? 'S1 not covered' : '',
    guardian === null ? 'S1 has no known guardian' : '',
    noted.N1 ? 'N1 noted' : '',
    noted.R1 ? 'R1 noted' : '',
    Object.keys(noted).length > 0 ? 'noted run active' : '',
    notedSettled.ended + notedSettled.cancelled > 0 ? 'noted run settled' : '',
    coverageGaps.recorded > 0 ? 'gap on record' : '',
    coverageGaps.open.length > 0 ? 'gap open' : '',
    coveredGuardians.length > 0 ? 'contract' : '',
    coveredGuardians.includes(ourGuardian) ? 'contract for ours' : '',
  ].filter((fact) => fact !== '');
}

/** One thing at a time goes wrong; combinations would multiply the situations and decide nothing new. */
function isBeyond(context: GenerationContext): boolean {
  const { admitted, coverageGaps, coveredGuardians, origin } = context;
  const scopeGuardian = admitted.R1?.guardians.S1;
  const isForeign = origin !== 'native' || isAnyNoted(context);
  const oddities = [
    isForeign,
    coverageGaps.recorded > 0,
    scopeGuardian === null,
    !coveredGuardians.includes(ourGuardian) && scopeGuardian !== undefined,
  ];
  return (
    oddities.filter(Boolean).length > 1 ||
    Object.keys(context.noted).length > 1 ||
    (isForeign && scopeGuardian !== undefined)
  );
}

const always = (type: string, payload: object, facts: readonly string[] = []): Sample => ({
  type,
  facts,
  payload: () => payload,
});

const settled = (runId: string, facts: readonly string[] = []) =>
  ['ended', 'cancelled'].map((terminal) => always('run.settled', { runId, terminal, endEventId: 'e' }, facts));

const migrated = (migrationVerified: boolean, evidenceRefs: readonly string[], facts: readonly string[] = []) =>
  always('authority.migrated', { ...asked, migrationVerified, evidenceRefs }, facts);

const receipt = (rest: object, epochs: number, facts: readonly string[] = []): Sample => ({
  type: 'retirement.receiptVerified',
  facts,
  payload: ({ sealEpoch }: GenerationContext) => receiptOfExecutor(sealEpoch + epochs, rest),
});

const samples: readonly Sample[] = [
  always('run.noted', { runId: 'N1', origin: 'observed' }),
  always('run.noted', { runId: 'R1', origin: 'observed' }),
  always('run.admitted', { runId: 'R1' }),
  ...settled('R1', ['of R1']),
  ...settled('N1', ['of N1']),
  ...settled('X'),
  always('scope.opened', { runId: 'R1', scopeId: 'S1', guardianDigest: ourGuardian }),
  always('scope.opened', { runId: 'R1', scopeId: 'S1', guardianDigest: null }),
  always('scope.opened', { runId: 'X', scopeId: 'S1', guardianDigest: ourGuardian }, ['of a stranger']),
  always('scope.settled', { runId: 'R1', scopeId: 'S1', proofKind: 'own_receipt' }),
  always('scope.settled', { runId: 'X', scopeId: 'S1', proofKind: 'own_receipt' }, ['of a stranger']),
  always('scope.settled', { runId: 'R1', scopeId: 'X', proofKind: 'own_receipt' }, ['of a stranger']),
  always('coverage.gapRecorded', gapNamed('gap')),
  always('coverage.gapClosed', { gapId: 'gap', evidence: 'boot_epoch', evidenceRef: 'e' }),
  always('coverage.gapClosed', { gapId: 'gap', evidence: 'authentic_receipt', evidenceRef: 'e' }),
  always('coverage.gapClosed', { gapId: 'gap', evidence: 'quiet_for_long', evidenceRef: 'e' }, ['no proof']),
  always('coverage.gapClosed', { gapId: 'X', evidence: 'boot_epoch', evidenceRef: 'e' }, ['no proof']),
  always('prediction.recorded', { eligible: false, blockers: [{ code: 'run_active', evidenceIds: ['e'] }] }),
  always('path.observed', { result: 'missing' }),
  always('contract.verified', contractOf(ourGuardian)),
  always('contract.verified', contractOf(otherGuardian)),
  always('admission.closed', asked),
  always('quarantine.recorded', quarantined),
  always('seal.requested', asked),
  receipt({}, 0),
  receipt({ verified: false }, 0, ['unverified']),
  receipt({}, 1, ['for another seal']),
  receipt({ generationId: 'W2' }, 0, ['for another seal']),
  always('authority.granted', { ...asked, gateReport: null }),
  migrated(true, ['gate report']),
  migrated(false, ['gate report'], ['no evidence']),
  migrated(true, [], ['no evidence']),
  always('authority.handoffRequested', { ...asked, to: 'others' }),
  always('authority.handedOff', { requestId: 'q', controller: 'others' }),
  always('authority.handoffAbandoned', { requestId: 'q' }),
  always('deadline.reached', { deadlineId: 'd' }),
];

const isKnown = (is: (fact: string) => boolean): boolean => ['active', 'ended', 'cancelled'].some((s) => is(`R1 ${s}`));

const observed = inState('authority.observe');
const managed = inState('authority.managed');
const open = inState('lifecycle.open');

export const worktreeGenerationTable: Table = {
  name: 'worktreeGeneration',
  machine: worktreeGenerationMachine,
  states: {
    '': { parallel: true },
    lifecycle: { initial: 'open' },
    'lifecycle.open': {},
    'lifecycle.closing': {},
    'lifecycle.sealed': {},
    'lifecycle.quarantined': {},
    'lifecycle.retired': { tags: ['terminal'] },
    authority: { initial: 'observe' },
    'authority.observe': {},
    'authority.managed': {},
    'authority.quiescing': {},
  },
  rows: [
    row('lifecycle', 'run.noted', { guards: [observed], actions: ['note'], ids: ['WT-08'] }),
    row('lifecycle', 'run.settled', { guards: ['admitted'], actions: ['settleRun'], ids: ['WT-02'] }),
    row('lifecycle', 'run.settled', { guards: ['isNoted'], actions: ['settleNoted'], ids: ['WT-02'] }),
    row('lifecycle', 'scope.opened', {
      guards: ['scopeNew', or(open, inState('lifecycle.closing'))],
      actions: ['openScope'],
      ids: ['WT-04'],
    }),
    row('lifecycle', 'scope.settled', { guards: ['scopeKnown'], actions: ['settleScope'], ids: ['WT-04'] }),
    row('lifecycle', 'coverage.gapRecorded', { actions: ['gap'], ids: ['WT-04'] }),
    row('lifecycle', 'coverage.gapClosed', { guards: ['gapProof'], actions: ['closeGap'], ids: ['WT-04'] }),
    row('lifecycle', 'prediction.recorded', { guards: [observed], actions: ['predict'], ids: ['WT-06'] }),
    row('lifecycle', 'path.observed', { actions: ['notePath'], ids: ['WT-05'] }),
    row('lifecycle', 'contract.verified', { actions: ['recordContract'], ids: ['PROMO-06'] }),
    row('lifecycle.open', 'run.admitted', {
      guards: ['notAdmitted', managed],
      actions: ['admit'],
      ids: ['WT-03', 'BIND-02'],
    }),
    row('lifecycle.open', 'admission.closed', {
      guards: [or(managed, inState('authority.quiescing'))],
      to: 'lifecycle.closing',
      ids: ['WT-03', 'WT-06'],
    }),
    ...['open', 'closing'].map((state) =>
      row(`lifecycle.${state}`, 'quarantine.recorded', {
        guards: [or(managed, inState('authority.quiescing'))],
        to: 'lifecycle.quarantined',
        actions: ['quarantine'],
        ids: ['WT-04', 'I-22'],
      }),
    ),
    row('lifecycle.closing', 'seal.requested', {
      guards: [managed, 'allSettled', 'noUntracked', 'notedResolved', 'contractVerified'],
      to: 'lifecycle.sealed',
      actions: ['seal'],
      ids: ['WT-04', 'WT-06'],
      // Control is only taken over once the noted runs have ended, and none is noted while it is held.
      moot: ['notedResolved'],
    }),
    row('lifecycle.sealed', 'retirement.receiptVerified', {
      guards: [managed, 'receiptVerified', 'receiptForThisSeal'],
      to: 'lifecycle.retired',
      actions: ['retire'],
      ids: ['WT-05', 'WT-06'],
    }),
    row('lifecycle.sealed', 'authority.handedOff', {
      guards: [inState('authority.quiescing')],
      to: 'lifecycle.closing',
      ids: ['PROMO-05', 'I-22'],
    }),
    row('authority.observe', 'authority.granted', {
      guards: ['newGeneration'],
      to: 'authority.managed',
      actions: ['nextAuthority'],
      ids: ['PROMO-04'],
    }),
    row('authority.observe', 'authority.migrated', {
      guards: ['migrationContract', 'noUntracked', 'notedResolved'],
      to: 'authority.managed',
      actions: ['nextAuthority'],
      ids: ['PROMO-04'],
    }),
    row('authority.managed', 'authority.handoffRequested', {
      to: 'authority.quiescing',
      actions: ['requestHandoff'],
      ids: ['PROMO-05'],
    }),
    row('authority.quiescing', 'authority.handedOff', {
      guards: ['allSettled', not(open)],
      to: 'authority.observe',
      actions: ['nextAuthority'],
      ids: ['PROMO-05'],
    }),
    row('authority.quiescing', 'authority.handoffAbandoned', {
      to: 'authority.managed',
      actions: ['nextAuthority'],
      ids: ['PROMO-05'],
    }),
  ],
  guards: {
    notAdmitted: (is) => !isKnown(is) && !is('R1 noted'),
    admitted: (is) => is('of R1') && isKnown(is),
    isNoted: (is) => (is('of R1') && is('R1 noted')) || (is('of N1') && is('N1 noted')),
    scopeNew: (is) => isKnown(is) && !is('of a stranger') && !is('S1 pending') && !is('S1 proved'),
    scopeKnown: (is) => !is('of a stranger') && (is('S1 pending') || is('S1 proved')),
    gapProof: (is) => is('gap open') && !is('no proof'),
    allSettled: (is) => !is('R1 active') && !is('S1 pending') && (!is('R1 ended') || is('S1 proved')),
    noUntracked: (is) => !is('gap open'),
    notedResolved: (is) => !is('noted run active'),
    contractVerified: (is) => is('contract') && !is('S1 not covered'),
    receiptVerified: (is) => !is('unverified'),
    receiptForThisSeal: (is) => !is('for another seal'),
    newGeneration: (is) =>
      !is('made by others') &&
      !isKnown(is) &&
      !is('noted run active') &&
      !is('noted run settled') &&
      !is('gap on record'),
    migrationContract: (is) => !is('no evidence'),
  },
  factsOf,
  starts: [
    { name: 'made here', input: generationInput() },
    { name: 'seen', input: generationInput({ origin: 'observed', controller: 'others' }) },
    { name: 'from an earlier system', input: generationInput({ origin: 'legacy', controller: 'others' }) },
  ],
  samples,
  isBeyond,
};
