/** What is told to a session, as stories are put together from. */
import type { Payload } from '../../../machines/events/catalogue.ts';
import { boot, digestOf, statusReceipt } from './evidence.ts';
import type { Told } from './play.ts';
import { openedAt } from './sessionSamples.ts';

export const begun: Told = ['launch.releaseCommitted', {}];
export const resultDigest = digestOf('e');

export const result = (valid: boolean, reasonCode?: string): Told => [
  'result.reported',
  { resultDigest, valid, ...(reasonCode === undefined ? {} : { reasonCode }) },
];

export const stop = (rest: Partial<Payload<'stop.requested'>> = {}): Told => [
  'stop.requested',
  { stopRequestId: 'q1', actor: 'operator', cause: 'stop', ...rest },
];

export const ended = (rest: Partial<Payload<'workload.statusReceipt'>> = {}): Told => [
  'workload.statusReceipt',
  statusReceipt('S1', rest),
];

export const withoutStatus: Told = ['workload.endedWithoutStatus', { evidenceEventId: 'e', reason: 'boot_epoch' }];
export const launchFailed: Told = ['launch.failed', { phase: 'spawn', reasonCode: 'eagain' }];

export const fault = (reason: string, stream: 'terminal' | 'transcript' = 'terminal'): Told => [
  'capture.fault',
  { stream, errno: null, reason },
];

export const captureDrains: Told = ['capture.drainStarted', { boundMs: 200 }];
export const captureOver: Told = ['capture.finished', { eof: true, truncated: false, bytes: 70 }];
export const captureCut: Told = ['capture.finished', { eof: false, truncated: true, fault: 'held_open', bytes: 70 }];

const scopeId = 'S1' as Payload<'scope.unverified'>['scopeId'];
export const doubted = (reason: string): Told => ['scope.unverified', { scopeId, reason }];
export const proved: Told = ['scope.exitProved', { scopeId, proofKind: 'own_receipt', proofEventId: 'e' }];

/** Output `afterMs` after the opening. */
export const output = (activitySeq: number, afterMs: number): Told => [
  'session.output',
  { activitySeq, bytes: activitySeq * 10, sampledAt: { ...openedAt, monoMs: openedAt.monoMs + afterMs } },
];

export const needsInput: Told = ['session.inputNeeded', { seq: 1, reasonCode: 'permission' }];
export const answered: Told = ['session.inputSent', { bytes: 3, actor: 'operator' }];
export const resized: Told = ['session.resized', { cols: 120, rows: 40, actor: 'operator' }];

/** Reached `afterMs` after the opening, on the basis of this much activity. */
export const reached = (
  kind: 'hard' | 'idle' | 'startup',
  [basisActivitySeq, afterMs]: readonly [number, number],
  bootId = boot,
): Told => [
  'deadline.reached',
  { deadlineId: `${kind}:P1`, kind, basisActivitySeq, bootId, monoMs: openedAt.monoMs + afterMs },
];
