/**
 * What can be said to a session at any moment, beside what its scope and its run hear. Whoever says that no status will
 * come knows it (`when`); people, agents, clocks and the PTY host may say theirs at any time.
 */
import { ptySessionMachine } from '../../../machines/ptySession.ts';
import { start } from '../../../machines/step.ts';
import { digestOf, laterBoot, sampledAt, statusReceipt } from './evidence.ts';
import { type JointEvent, jointEvents } from './jointEvents.ts';
import type { Told } from './play.ts';
import { basisOf, sessionInput } from './sessionSamples.ts';

const toSession = (
  name: string,
  told: readonly [string, object],
  when: JointEvent['when'] = () => true,
): JointEvent => ({
  name,
  call: [{ to: 'ptySession', told: told as unknown as Told }],
  when,
});

export const limited: Parameters<typeof sessionInput>[0] = { deadlines: { hardMs: 60_000 } };
const hard = basisOf(start(ptySessionMachine, sessionInput(limited)).snapshot.context, 'hard');

export const sessionEvents: readonly JointEvent[] = [
  toSession('valid result', ['result.reported', { resultDigest: digestOf('e'), valid: true }]),
  toSession('invalid result', ['result.reported', { resultDigest: digestOf('f'), valid: false }]),
  toSession('deadline', ['deadline.reached', hard]),
  toSession('stale deadline', ['deadline.reached', { ...hard, bootId: laterBoot }]),
  toSession('terminal lost', ['capture.fault', { stream: 'terminal', errno: null, reason: 'hostLost' }]),
  toSession('capture drains', ['capture.drainStarted', { boundMs: 200 }]),
  toSession('capture over', ['capture.finished', { eof: true, truncated: false, bytes: 9 }]),
  toSession('capture cut short', ['capture.finished', { eof: false, truncated: true, bytes: 9 }]),
  toSession('session stopped', ['stop.requested', { stopRequestId: 'q', actor: 'operator', cause: 'stop' }]),
  toSession('output', ['session.output', { activitySeq: 1, bytes: 9, sampledAt }]),
  toSession('input needed', ['session.inputNeeded', { seq: 1, reasonCode: 'permission' }]),
  toSession('input sent', ['session.inputSent', { bytes: 3, actor: 'operator' }]),
  toSession('resized', ['session.resized', { cols: 100, rows: 30, actor: 'operator' }]),
  toSession('forged status for the session', ['workload.statusReceipt', statusReceipt('S1', { authentic: false })]),
  toSession('proof of another scope', [
    'scope.exitProved',
    { scopeId: 'S2', proofKind: 'own_receipt', proofEventId: 'e' },
  ]),
  toSession('doubt about another scope', ['scope.unverified', { scopeId: 'S2', reason: 'guardian_gone' }]),
  toSession(
    'no status will come',
    ['workload.endedWithoutStatus', { evidenceEventId: 'e', reason: 'guardian_gone' }],
    ({ root, guardian, statusReceipt: isWritten }) => root === 'dead' && guardian === 'dead' && !isWritten,
  ),
];

/** Of the scope and the run only what a session hears of, or what changes what it may hear. */
const heard = new Set([
  ...['prepared', 'not started', 'abandoned', 'attached', 'bound and released'],
  ...['status receipt, ran true', 'status receipt, ran false', 'exit receipt, ran true', 'exit receipt, ran false'],
  ...['forged status receipt', 'another boot', 'enclosing receipt', 'guardian seen absent', 'process seen ended'],
  ...['drain: stop', 'drain: superseded', 'drain budget exhausted'],
]);

export const sessionAlphabet: readonly JointEvent[] = [
  ...jointEvents.filter(({ name }) => heard.has(name)),
  ...sessionEvents,
];
