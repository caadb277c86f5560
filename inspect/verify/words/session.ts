/** What is said to a session by its host, its agent, people and clocks, besides what its scope tells it. */
import type { SnapshotOf } from '../../../actors/runtime/actorAccess.ts';
import { digestOf, type Launch, statusReceipt } from '../evidence.ts';
import { one, regionOf } from '../facts.ts';
import { type Due, type Records, say, type Told, type Word } from '../model.ts';
import { type Forest, treeOf } from '../tree.ts';
import { word } from './launching.ts';

type Session = SnapshotOf['ptySession'];

const openedAt = { monoMs: 0, bootId: 'boot-a' };
export const opened = {
  sessionId: 'P1',
  runId: 'R1',
  scopeId: 'S1',
  cols: 80,
  rows: 24,
  deadlines: { hardMs: 90_000, idleMs: 10_000, startupMs: 5_000 },
  openedAt,
};

const dueBy =
  (accepts: (session: Session) => boolean) =>
  (records: Records): Due => {
    const session = one(records, 'ptySession', 'P1');
    return session !== null && accepts(session) ? 'accepted' : 'refused';
  };

const workloadOf = (session: Session): string => regionOf(session, 'workload');
const captureOf = (session: Session): string => regionOf(session, 'capture');
const isRunning = (session: Session): boolean => workloadOf(session).startsWith('running');
const isLaunching = (session: Session): boolean => workloadOf(session) === 'launching';
const isEnding = (session: Session): boolean => workloadOf(session) === 'ending';

interface Reading<T> {
  readonly name: string;
  readonly told: Told;
  readonly accepts: (session: Session) => boolean;
  readonly rest?: Partial<Word<T>>;
}

const toP1 = <T>({ name, told, accepts, rest }: Reading<T>): Word<T> =>
  word<T>(`P1: ${name}`, told, { by: 'PTY host', due: dueBy(accepts), ...rest });

const hasRun = <T extends Forest>(truth: T): boolean => treeOf(truth, 'S1').ran;

const agentWords = <T extends Forest>(): readonly Word<T>[] => {
  const result = (valid: boolean) => say('P1', 'result.reported', { resultDigest: digestOf('7'), valid });
  const byAgent = { by: 'agent', when: hasRun<T> };
  return [
    toP1({ name: 'result reported', told: result(true), accepts: isRunning, rest: byAgent }),
    toP1({ name: 'invalid result reported', told: result(false), accepts: isRunning, rest: byAgent }),
    toP1({
      name: 'input needed',
      told: say('P1', 'session.inputNeeded', { seq: 1, reasonCode: 'asks' }),
      accepts: (session) => workloadOf(session) === 'running.working',
      rest: byAgent,
    }),
    toP1({
      name: 'output',
      told: say('P1', 'session.output', { activitySeq: 1, bytes: 10, sampledAt: { monoMs: 7, bootId: 'boot-a' } }),
      accepts: isRunning,
      rest: { when: hasRun<T> },
    }),
  ];
};

const peopleWords = <T>(): readonly Word<T>[] => [
  toP1({
    name: 'stop requested',
    told: say('P1', 'stop.requested', { stopRequestId: 'q', actor: 'operator', cause: 'stop' }),
    accepts: () => true,
    rest: { by: 'operator' },
  }),
  toP1({
    name: 'input sent',
    told: say('P1', 'session.inputSent', { bytes: 1, actor: 'operator' }),
    accepts: () => true,
    rest: { by: 'operator' },
  }),
];

type Kind = 'hard' | 'idle' | 'startup';

/** The deadlines that stand, computed once more from the times of the session (PTY-09). */
const isStanding = (kind: Kind, seq: number, { context }: Session): boolean =>
  kind === 'hard' ? seq === 0 : context.activity.seq === seq && (kind === 'idle' || seq === 0);

const due: Readonly<Record<Kind, Readonly<Record<number, number>>>> = {
  hard: { 0: 90_000, 1: 90_000 },
  idle: { 0: 10_000, 1: 10_007 },
  startup: { 0: 5_000, 1: 5_007 },
};

const clockWords = <T>(): readonly Word<T>[] =>
  (['hard', 'idle', 'startup'] as const).flatMap((kind) =>
    [0, 1].map((seq) =>
      toP1({
        name: `${kind} deadline, armed at output ${seq}`,
        told: say('P1', 'deadline.reached', {
          ...{ deadlineId: `${kind}:P1`, kind, basisActivitySeq: seq },
          ...{ bootId: 'boot-a', monoMs: due[kind][seq] },
        }),
        accepts: (session) =>
          isEnding(session) || ((isLaunching(session) || isRunning(session)) && isStanding(kind, seq, session)),
        rest: { by: 'clock', isClock: true },
      }),
    ),
  );

const captureWords = <T>(): readonly Word<T>[] => {
  const finished = (eof: boolean) => say('P1', 'capture.finished', { eof, truncated: !eof, bytes: 10 });
  const isOpen = (session: Session): boolean => ['capturing', 'draining'].includes(captureOf(session));
  return [
    toP1({
      name: 'capture fault',
      told: say('P1', 'capture.fault', { stream: 'terminal', errno: null, reason: 'hostLost' }),
      accepts: (session) => isOpen(session) || isRunning(session) || isEnding(session),
    }),
    toP1({
      name: 'capture drains',
      told: say('P1', 'capture.drainStarted', { boundMs: 100 }),
      accepts: (session) => captureOf(session) === 'capturing',
    }),
    toP1({ name: 'capture finished', told: finished(true), accepts: (session) => captureOf(session) === 'draining' }),
    toP1({ name: 'capture given up', told: finished(false), accepts: (session) => captureOf(session) === 'draining' }),
  ];
};

/** What only the scope of a session may tell it, told by somebody else. */
const strangeWords = <T>(launch: Launch): readonly Word<T>[] =>
  [
    say('P1', 'workload.statusReceipt', statusReceipt(launch, { authentic: false })),
    say('P1', 'workload.statusReceipt', statusReceipt(launch, { scopeId: 'S9' })),
    say('P1', 'scope.exitProved', { scopeId: 'S9', proofKind: 'own_receipt', proofEventId: 'e' }),
    say('P1', 'scope.unverified', { scopeId: 'S9', reason: 'guardian_gone' }),
  ].map((told, index) =>
    toP1({
      name: `a stranger tells of another scope (${index + 1})`,
      told,
      accepts: () => false,
      rest: { by: 'forger' },
    }),
  );

export const sessionWords = <T extends Forest>(launch: Launch): readonly Word<T>[] => [
  ...agentWords<T>(),
  ...peopleWords<T>(),
  ...clockWords<T>(),
  ...captureWords<T>(),
  ...strangeWords<T>(launch),
];
