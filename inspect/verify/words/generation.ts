/** What is said to a worktree generation by its operator, its adapter, its contract and its executor. */
import type { SnapshotOf } from '../../../actors/runtime/actorAccess.ts';
import { digestOf } from '../evidence.ts';
import { isCancelled, isEnded, lifecycleOf, one } from '../facts.ts';
import { type Due, type Records, say, type Told, type Word } from '../model.ts';
import { word } from './launching.ts';

type Generation = SnapshotOf['worktreeGeneration'];

export const ourGuardian = digestOf('a');
const otherGuardian = digestOf('b');

export const registered = {
  generationId: 'W1',
  path: '/worktrees/one',
  fsIdentity: { dev: '8', ino: '77', gitdir: '/repository/.git/worktrees/one' },
  origin: 'native',
  controller: 'custody',
  repoId: null,
  goalId: null,
  branch: null,
  baseCommit: null,
};

const asked = { requestId: 'q', actor: 'operator' };

/** The premises of a seal as section C.4 lists them, asked of the record and not of the chart. */
function isSealable({ context }: Generation): boolean {
  const runs = Object.values(context.admitted);
  const isSettled = runs.every(
    ({ run, scopes }) =>
      run !== 'active' &&
      (run === 'cancelled' || Object.keys(scopes).length > 0) &&
      Object.values(scopes).every((scope) => scope === 'proved'),
  );
  return isSettled && context.coverageGaps.open.length === 0 && isNotedOver(context) && isCovered(context);
}

const isNotedOver = ({ noted, notedBeyond }: Generation['context']): boolean =>
  Object.keys(noted).length + notedBeyond.count === 0;

const isCovered = ({ admitted, noWritersContract, coveredGuardians }: Generation['context']): boolean =>
  noWritersContract !== null &&
  Object.values(admitted).every(({ guardians }) =>
    Object.values(guardians).every((digest) => digest !== null && coveredGuardians.includes(digest)),
  );

const dueBy =
  (accepts: (generation: Generation) => boolean) =>
  (records: Records): Due => {
    const generation = one(records, 'worktreeGeneration', 'W1');
    return generation !== null && accepts(generation) ? 'accepted' : 'refused';
  };

const admitsR2 = say('W1', 'run.admitted', { runId: 'R2' });

const isManaged = ({ value }: Generation): boolean => value.authority === 'managed';
const isQuiescing = ({ value }: Generation): boolean => value.authority === 'quiescing';
const isObserving = ({ value }: Generation): boolean => value.authority === 'observe';

const toW1 = <T>(name: string, told: Told, accepts: (generation: Generation) => boolean): Word<T> =>
  word<T>(`W1: ${name}`, told, { by: 'operator', due: dueBy(accepts) });

const receiptOf = (sealEpoch: number, rest: object = {}) =>
  say('W1', 'retirement.receiptVerified', {
    executor: 'archiver',
    generationId: 'W1',
    sealEpoch,
    receiptDigest: digestOf('c'),
    verified: true,
    ...rest,
  });

const verified = (guardianDigest: string) =>
  say('W1', 'contract.verified', {
    contract: 'scope-exit-proof/1',
    kernel: '6.1.0',
    guardianDigest,
    batteryVersion: 1,
    reportRef: 'report',
  });

const gap = { gapId: 'g1', producer: 'adapter', kind: 'missed_run', window: { from: 1, to: 2 }, count: 1 };

const isSealed = (generation: Generation): boolean => lifecycleOf(generation) === 'sealed' && isManaged(generation);

const lifeWords = <T>(): readonly Word<T>[] => [
  toW1(
    'admission closed',
    say('W1', 'admission.closed', asked),
    (generation) => lifecycleOf(generation) === 'open' && !isObserving(generation),
  ),
  toW1(
    'seal requested',
    say('W1', 'seal.requested', asked),
    (generation) => lifecycleOf(generation) === 'closing' && isManaged(generation) && isSealable(generation),
  ),
  toW1(
    'receipt of the executor',
    receiptOf(1),
    (generation) => isSealed(generation) && generation.context.sealEpoch === 1,
  ),
  toW1('receipt of an earlier seal', receiptOf(7), () => false),
  toW1('receipt for another worktree', receiptOf(1, { generationId: 'W9' }), () => false),
  toW1('receipt that was not verified', receiptOf(1, { verified: false }), () => false),
  toW1(
    'quarantined',
    say('W1', 'quarantine.recorded', {
      ...asked,
      scopeId: 'S1',
      from: '/a',
      to: '/b',
      gitMetadata: 'none',
      atWallMs: 1,
    }),
    (generation) => ['open', 'closing'].includes(lifecycleOf(generation)) && !isObserving(generation),
  ),
];

const admittedAgain = say('W1', 'run.admitted', { runId: 'R1' });

const evidenceWords = <T>(): readonly Word<T>[] => [
  toW1('contract verified', verified(ourGuardian), () => true),
  toW1('contract verified for another guardian', verified(otherGuardian), () => true),
  toW1('gap recorded', say('W1', 'coverage.gapRecorded', gap), () => true),
  toW1(
    'gap closed by a boot',
    say('W1', 'coverage.gapClosed', { gapId: 'g1', evidence: 'boot_epoch', evidenceRef: 'e' }),
    ({ context }) => context.coverageGaps.open.includes('g1'),
  ),
  toW1(
    'another gap closed',
    say('W1', 'coverage.gapClosed', { gapId: 'g9', evidence: 'boot_epoch', evidenceRef: 'e' }),
    () => false,
  ),
  toW1(
    'another run settled',
    say('W1', 'run.settled', { runId: 'R9', terminal: 'ended', endEventId: 'e' }),
    () => false,
  ),
  toW1(
    'scope of another run opened',
    say('W1', 'scope.opened', { runId: 'R9', scopeId: 'S9', guardianDigest: null }),
    () => false,
  ),
  toW1(
    'scope opened again',
    say('W1', 'scope.opened', { runId: 'R1', scopeId: 'S1', guardianDigest: ourGuardian }),
    () => false,
  ),
  toW1(
    'another scope settled',
    say('W1', 'scope.settled', { runId: 'R1', scopeId: 'S9', proofKind: 'own_receipt' }),
    () => false,
  ),
  // A binding wants its run, so an admission by itself comes only after the one that reserved it (BIND-01).
  {
    ...toW1<T>('R1 admitted again', admittedAgain, () => false),
    call: ({ actors }) => (actors.R1 ? [admittedAgain] : undefined),
  },
  {
    ...toW1<T>(
      'R2 admitted',
      admitsR2,
      (generation) => lifecycleOf(generation) === 'open' && isManaged(generation) && !isKnown(generation, 'R2'),
    ),
    // Whoever is over is admitted nowhere: the launch that admits a run makes its id, and reserves it in the same commit.
    call: (records) => (isOverR2(records) ? undefined : [admitsR2]),
  },
  toW1('prediction recorded', say('W1', 'prediction.recorded', { eligible: true, blockers: [] }), isObserving),
];

const isOverR2 = (records: Records): boolean => {
  const run = one(records, 'run', 'R2');
  return run !== null && (isEnded(run) || isCancelled(run));
};

const isKnown = ({ context }: Generation, runId: string): boolean =>
  context.admitted[runId] !== undefined || context.noted[runId] !== undefined;

const isNew = ({ context }: Generation): boolean =>
  context.origin === 'native' &&
  Object.keys(context.admitted).length === 0 &&
  Object.keys(context.noted).length + context.notedBeyond.count === 0 &&
  context.notedSettled.ended + context.notedSettled.cancelled === 0 &&
  context.coverageGaps.recorded === 0;

const authorityWords = <T>(): readonly Word<T>[] => {
  const migrated = (rest: object) =>
    say('W1', 'authority.migrated', { ...asked, migrationVerified: true, evidenceRefs: ['report'], ...rest });
  return [
    toW1(
      'authority granted',
      say('W1', 'authority.granted', { ...asked, gateReport: null }),
      (generation) => isObserving(generation) && isNew(generation),
    ),
    toW1(
      'authority migrated',
      migrated({}),
      (generation) =>
        isObserving(generation) && generation.context.coverageGaps.open.length === 0 && isNotedOver(generation.context),
    ),
    toW1('authority migrated unverified', migrated({ migrationVerified: false }), () => false),
    toW1('authority migrated without evidence', migrated({ evidenceRefs: [] }), () => false),
    toW1('handoff requested', say('W1', 'authority.handoffRequested', { ...asked, to: 'other' }), isManaged),
    toW1(
      'handed off',
      say('W1', 'authority.handedOff', { requestId: 'q', controller: 'other' }),
      (generation) => isQuiescing(generation) && lifecycleOf(generation) !== 'open' && isRunsSettled(generation),
    ),
    toW1('handoff abandoned', say('W1', 'authority.handoffAbandoned', { requestId: 'q' }), isQuiescing),
  ];
};

export const isRunsSettled = ({ context }: Generation): boolean =>
  Object.values(context.admitted).every(
    ({ run, scopes }) =>
      run !== 'active' &&
      (run === 'cancelled' || Object.keys(scopes).length > 0) &&
      Object.values(scopes).every((scope) => scope === 'proved'),
  );

export const generationWords = <T>(): readonly Word<T>[] => [
  ...lifeWords<T>(),
  ...evidenceWords<T>(),
  ...authorityWords<T>(),
];
