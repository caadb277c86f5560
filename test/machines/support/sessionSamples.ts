/** Every event of a PTY session in its good and its bent variants; the facts say what is bent. */
import type { Payload } from '../../../machines/events/catalogue.ts';
import type { SessionContext } from '../../../machines/ptySessionContext.ts';
import { boot, digestOf, laterBoot, notReleased, statusReceipt } from './evidence.ts';
import type { Sample } from './table.ts';

export const openedAt = { monoMs: 5_000, bootId: boot };

export const sessionInput = (rest: Partial<Payload<'session.opened'>> = {}): Payload<'session.opened'> =>
  ({
    sessionId: 'P1',
    runId: 'R1',
    scopeId: 'S1',
    cols: 80,
    rows: 24,
    deadlines: {},
    openedAt,
    ...rest,
  }) as Payload<'session.opened'>;

const sample = (type: string, payload: object, ...facts: string[]): Sample => ({ type, facts, payload: () => payload });

type Kind = 'hard' | 'idle' | 'startup';

/** The basis as its definition says it, spelt out again: what was known when it was armed, and how long it was to be. */
export const basisOf = (context: SessionContext, kind: Kind): Payload<'deadline.reached'> => {
  const since = kind === 'idle' ? context.activity : { seq: 0, sampledAt: openedAt };
  return {
    deadlineId: `${kind}:P1`,
    kind,
    basisActivitySeq: since.seq,
    bootId: since.sampledAt.bootId,
    monoMs: since.sampledAt.monoMs + (context.deadlines[`${kind}Ms`] ?? 0),
  };
};

const deadlines = ({ kind, bent = {} }: { kind: Kind; bent?: Partial<Payload<'deadline.reached'>> }): Sample => ({
  type: 'deadline.reached',
  facts: [...(Object.keys(bent).length > 0 ? ['stale'] : []), ...(kind === 'startup' ? ['for the start'] : [])],
  payload: (context: SessionContext) => ({ ...basisOf(context, kind), ...bent }),
});

const deadlineSamples: readonly Sample[] = (['hard', 'idle', 'startup'] as const).flatMap((kind) => [
  deadlines({ kind }),
  deadlines({ kind, bent: { basisActivitySeq: 99 } }),
  deadlines({ kind, bent: { bootId: laterBoot } }),
  deadlines({ kind, bent: { monoMs: 1 } }),
]);

const sizes = { cols: 120, rows: 40, actor: 'operator' };

const workloadSamples: readonly Sample[] = [
  sample('launch.releaseCommitted', {}),
  sample('launch.failed', { phase: 'spawn', reasonCode: 'eagain' }),
  sample('stop.requested', { stopRequestId: 'q', actor: 'operator', cause: 'stop' }),
  sample('result.reported', { resultDigest: digestOf('e'), valid: true }),
  sample('result.reported', { resultDigest: digestOf('e'), valid: false, reasonCode: 'no_verdict' }, 'invalid'),
  {
    type: 'session.output',
    facts: [],
    payload: ({ activity: { seq, bytes, sampledAt } }: SessionContext) => ({
      activitySeq: seq + 1,
      bytes: bytes + 10,
      sampledAt: { ...sampledAt, monoMs: sampledAt.monoMs + 1_000 },
    }),
  },
  sample('session.inputNeeded', { seq: 1, reasonCode: 'permission' }),
  sample('session.inputSent', { bytes: 3, actor: 'operator' }),
  sample('session.resized', sizes),
  sample('workload.statusReceipt', statusReceipt('S1')),
  sample('workload.statusReceipt', statusReceipt('S1', notReleased)),
  sample('workload.statusReceipt', statusReceipt('S1', { authentic: false }), 'forged'),
  sample('workload.statusReceipt', statusReceipt('S2'), 'forged'),
  sample('workload.endedWithoutStatus', { evidenceEventId: 'e', reason: 'boot_epoch' }),
];

const captureSamples: readonly Sample[] = [
  sample('capture.drainStarted', { boundMs: 200 }),
  sample('capture.finished', { eof: true, truncated: false, bytes: 10 }),
  sample('capture.finished', { eof: false, truncated: false, fault: 'held_open', bytes: 10 }, 'cut short'),
  sample('capture.fault', { stream: 'terminal', errno: null, reason: 'hostLost' }),
];

const scopeSamples: readonly Sample[] = ['S1', 'S2'].flatMap((scopeId) => {
  const facts = scopeId === 'S1' ? [] : ['another scope'];
  return [
    sample('scope.exitProved', { scopeId, proofKind: 'own_receipt', proofEventId: 'e' }, ...facts),
    sample('scope.unverified', { scopeId, reason: 'guardian_gone' }, ...facts),
  ];
});

/** Facts about other actors, which a session has no use for. */
const foreignSamples: readonly Sample[] = [
  sample('process.observed', { result: 'ended', reason: 'absent', stable: true }),
  sample('exit.reported', { exitCode: 0, signal: null, reporter: 'launcher' }),
  sample('drain.quiesced', { members: {}, total: 0, scans: 2 }),
];

export const sessionSamples: readonly Sample[] = [
  ...workloadSamples,
  ...deadlineSamples,
  ...captureSamples,
  ...scopeSamples,
  ...foreignSamples,
];
