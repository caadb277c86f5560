/** Every event of a worker incarnation and of the fence, in its good and its bent variants; the facts say what is bent. */
import type { Payload } from '../../../machines/events/catalogue.ts';
import type { FenceContext } from '../../../machines/recoveryFenceParts.ts';
import type { WorkerContext } from '../../../machines/workerIncarnationContext.ts';
import { boot, digestOf, laterBoot, processOf, stranger } from './evidence.ts';
import type { Sample } from './table.ts';

export const requestedAt = { monoMs: 5_000, bootId: boot };
export const workerProcess = processOf(200, '7000');

export const workerInput = (rest: Partial<Payload<'worker.requested'>> = {}): Payload<'worker.requested'> =>
  ({
    incarnationId: 'K1',
    runtimeId: 'X1',
    registrationId: 'M1',
    launchTokenHash: digestOf('a'),
    scopeId: 'S1',
    targetId: 'target-1',
    nodeId: 'N1',
    startupMs: 10_000,
    silenceMs: 30_000,
    requestedAt,
    ...rest,
  }) as Payload<'worker.requested'>;

type Registered = Payload<'worker.registered'>;
type Tick = Payload<'scheduler.tick'>;

export const registration = (rest: Partial<Registered> = {}): Registered =>
  ({
    launchTokenHash: digestOf('a'),
    registrationId: 'M1',
    scopeId: 'S1',
    process: workerProcess,
    isRegisteredPeer: true,
    ...rest,
  }) as Registered;

export const tickOf = (rest: Partial<Tick> = {}): Tick =>
  ({
    incarnationId: 'K1',
    runtimeId: 'X1',
    registrationId: 'M1',
    launchTokenHash: digestOf('a'),
    process: workerProcess,
    targetId: 'target-1',
    nodeId: 'N1',
    seq: 1,
    sampledAt: { monoMs: 6_000, bootId: boot },
    completedCycle: true,
    isRegisteredPeer: true,
    ...rest,
  }) as Tick;

/** One impostor per thing that a registration is compared with (WRK-01); each differs in that alone. */
export const falseRegistrations: Readonly<Record<string, Partial<Registered>>> = {
  'another token': { launchTokenHash: digestOf('b') },
  'another registration': { registrationId: 'M2' as Registered['registrationId'] },
  'another scope': { scopeId: 'S2' as Registered['scopeId'] },
  'a child that has the token': { isRegisteredPeer: false },
};

/** One impostor per thing that a tick is compared with (WRK-02, WRK-03); each differs in that alone. */
export const falseTicks: Readonly<Record<string, Partial<Tick>>> = {
  'another incarnation': { incarnationId: 'K2' as Tick['incarnationId'] },
  'another runtime': { runtimeId: 'X2' as Tick['runtimeId'] },
  'another registration': { registrationId: 'M2' as Tick['registrationId'] },
  'an old token': { launchTokenHash: digestOf('b') },
  'another process': { process: stranger },
  'a reused pid': { process: { ...workerProcess, processToken: '9000' } },
  'another boot': { process: { ...workerProcess, bootId: laterBoot } },
  'another user': { process: { ...workerProcess, uid: 0 } },
  'no pidfs inode': { process: { ...workerProcess, adapterEvidence: '' } },
  'another node': { nodeId: 'N2' as Tick['nodeId'] },
  'a child that has the token': { isRegisteredPeer: false },
};

const sample = (type: string, payload: object, ...facts: string[]): Sample => ({ type, facts, payload: () => payload });

const tickSamples: readonly Sample[] = [
  ...[{}, ...Object.values(falseTicks)].map(
    (bent): Sample => ({
      type: 'scheduler.tick',
      facts: Object.keys(bent).length === 0 ? [] : ['inexact'],
      payload: ({ tick, targetId }: WorkerContext) => tickOf({ seq: tick.seq + 1, targetId, ...bent }),
    }),
  ),
  {
    type: 'scheduler.tick',
    facts: ['inexact'],
    payload: ({ tick, targetId }: WorkerContext) =>
      tickOf({ seq: Math.max(1, tick.seq), targetId, ...(tick.seq === 0 ? { nodeId: 'N2' as Tick['nodeId'] } : {}) }),
  },
  {
    type: 'scheduler.tick',
    facts: ['earlier target'],
    payload: ({ tick }: WorkerContext) => tickOf({ seq: tick.seq + 1, targetId: 'target-0' }),
  },
];

/** The basis as its definition says it, spelt out again. */
const basisOf = (kind: 'startup' | 'silence', { incarnationId, tick, since }: WorkerContext) => {
  const from = kind === 'startup' ? since : tick.sampledAt;
  return {
    deadlineId: `${kind}:${incarnationId}:${tick.seq}`,
    kind,
    basisActivitySeq: tick.seq,
    bootId: from.bootId,
    monoMs: from.monoMs + (kind === 'startup' ? 10_000 : 30_000),
  };
};

const deadlineSamples: readonly Sample[] = (['startup', 'silence'] as const).flatMap((kind) =>
  [{}, { basisActivitySeq: 99 }, { bootId: laterBoot }, { monoMs: 1 }].map((bent) => ({
    type: 'deadline.reached',
    facts: [kind, ...(Object.keys(bent).length === 0 ? [] : ['stale'])],
    payload: (context: WorkerContext) => ({ ...basisOf(kind, context), ...bent }),
  })),
);

const scopeSamples: readonly Sample[] = ['S1', 'S2'].flatMap((scopeId) => {
  const facts = scopeId === 'S1' ? [] : ['another scope'];
  return [
    sample('scope.exitProved', { scopeId, proofKind: 'own_receipt', proofEventId: 'e' }, ...facts),
    sample('scope.exitProved', { scopeId, proofKind: 'never_launched', proofEventId: 'e' }, ...facts),
    sample('scope.unverified', { scopeId, reason: 'guardian_gone' }, ...facts),
  ];
});

export const workerSamples: readonly Sample[] = [
  sample('worker.registered', registration()),
  ...Object.values(falseRegistrations).map((bent) => sample('worker.registered', registration(bent), 'impostor')),
  sample('worker.launchFailed', { reasonCode: 'eagain' }),
  sample('worker.stopRequested', { reason: 'recovery', fenceId: 'X1' }),
  sample('target.changed', { targetId: 'target-2', changedAt: { monoMs: 8_000, bootId: boot } }, 'to the second'),
  sample('target.changed', { targetId: 'target-1', changedAt: { monoMs: 9_000, bootId: boot } }, 'to the first'),
  ...tickSamples,
  ...deadlineSamples,
  ...scopeSamples,
  // Facts about others, which a worker has no use for.
  sample('drain.quiesced', { members: {}, total: 0, scans: 2 }),
  sample('worker.scopeSettled', { scopeId: 'S1', proofEventId: 'e' }),
];

export const fenceInput = { runtimeId: 'X1' } as Payload<'fence.established'>;

const old = { incarnationId: 'K1', scopeId: 'S1' };
const retryAt = { monoMs: 9_000, bootId: boot };
const nobody = { rescanned: true, pending: 0, unverified: 0, scopeIds: [] };
const unproved = [
  { ...nobody, pending: 1, scopeIds: ['S7'] },
  { ...nobody, unverified: 1, scopeIds: ['S7'] },
  { ...nobody, rescanned: false },
];

const launchedSamples: readonly Sample[] = [
  [{}, []],
  [{ workerEnabled: false }, ['not enabled']],
  ...unproved.map((bent) => [bent, ['unproved']] as const),
].map(([bent, facts]) => ({
  type: 'replacement.launched',
  facts: facts as readonly string[],
  payload: ({ old: earlier }: FenceContext) => {
    const number = Number(earlier?.incarnationId.slice(1) ?? 1) === 1 ? 2 : 1;
    return { ...nobody, incarnationId: `K${number}`, scopeId: `S${number}`, workerEnabled: true, ...bent };
  },
}));

export const fenceSamples: readonly Sample[] = [
  sample('recovery.started', { old, liveWorkers: 1, reason: 'silent' }, 'one old', 'old K1'),
  sample(
    'recovery.started',
    { old: { incarnationId: 'K2', scopeId: 'S2' }, liveWorkers: 1, reason: 'silent' },
    'one old',
    'old K2',
  ),
  sample('recovery.started', { old: null, liveWorkers: 0, reason: 'none' }, 'no old'),
  sample('recovery.started', { old, liveWorkers: 2, reason: 'two' }, 'old K1', 'two live'),
  sample('recovery.started', { old: null, liveWorkers: 1, reason: 'unknown' }),
  sample('recovery.started', { old, liveWorkers: 0, reason: 'odd' }, 'old K1'),
  ...['S1', 'S2', 'S3'].map((scopeId) =>
    sample('worker.scopeSettled', { scopeId, proofEventId: 'e' }, `of ${scopeId}`),
  ),
  sample('ownership.rescanned', { ...nobody, retryAt }),
  ...unproved.map((bent) => sample('ownership.rescanned', { ...bent, retryAt }, 'unproved')),
  ...launchedSamples,
  {
    type: 'replacement.launched',
    facts: ['the old one again'],
    payload: ({ old: earlier }: FenceContext) => ({
      ...nobody,
      incarnationId: earlier?.incarnationId ?? 'K1',
      scopeId: earlier?.scopeId ?? 'S1',
      workerEnabled: true,
    }),
  },
  ...['K1', 'K2', 'K3'].map((incarnationId) =>
    sample(
      'scheduler.tick',
      tickOf({ incarnationId: incarnationId as Tick['incarnationId'] }),
      `from ${incarnationId}`,
    ),
  ),
  sample('recovery.failed', { phase: 'awaitingTick', reason: 'silent', retryAt }),
  sample('recovery.retry', { reason: 'backoff' }),
  sample('worker.stopRequested', { reason: 'recovery', fenceId: 'X1' }),
];
