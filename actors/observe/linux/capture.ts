import type { ProcessIdentity } from '../../../machines/identity.ts';
import type { SamplingContext } from './context.ts';
import { type Eyes, lookAtStat, lookAtUid } from './look.ts';
import { isDefunct, isVanishing } from './stat.ts';
import type { UnknownReason } from './verdict.ts';

const NEXT: Readonly<Record<string, string>> = {
  process_gone: 'nothing was recorded; start the work again through Custody',
  process_changed: 'the pid was taken over while it was read; ask the launcher for the pid again',
  context_unavailable: 'run `custody doctor` to see what keeps procfs from being read',
};

/** The process could not be identified, so nothing may be recorded about it (ID-08: identity is never invented). */
export class CaptureError extends Error {
  readonly code: 'process_gone' | 'process_changed' | 'context_unavailable';
  readonly pid: number;
  readonly reason: UnknownReason | 'absent' | 'defunct';
  readonly next: readonly string[];

  constructor(code: CaptureError['code'], pid: number, reason: CaptureError['reason']) {
    super(`process ${pid} cannot be identified: ${reason}`);
    this.name = 'CaptureError';
    this.code = code;
    this.pid = pid;
    this.reason = reason;
    this.next = [NEXT[code]!];
  }
}

export interface CaptureRequest {
  readonly installationId: ProcessIdentity['installationId'];
  readonly pid: number;
  /** The pidfs inode, when whoever started the process reported it; procfs itself does not tell. */
  readonly adapterEvidence: string;
}

/** Identifies a living process: stat → uid → stat, both looks equal. Throws CaptureError. */
export function captureIdentity(eyes: Eyes, context: SamplingContext, request: CaptureRequest): ProcessIdentity {
  const { pid } = request;
  const before = lookAtStat(eyes, pid);
  if (before === 'gone') throw new CaptureError('process_gone', pid, 'absent');
  if (typeof before === 'string') throw new CaptureError('context_unavailable', pid, before);
  if (isDefunct(before) || isVanishing(before)) throw new CaptureError('process_gone', pid, 'defunct');
  const uid = lookAtUid(eyes, pid);
  if (uid === 'gone') throw new CaptureError('process_gone', pid, 'absent');
  if (typeof uid === 'string') throw new CaptureError('context_unavailable', pid, uid);
  const after = lookAtStat(eyes, pid);
  if (after === 'gone') throw new CaptureError('process_gone', pid, 'absent');
  if (typeof after === 'string') throw new CaptureError('context_unavailable', pid, after);
  if (after.start !== before.start) throw new CaptureError('process_changed', pid, 'race');
  return {
    evidenceVersion: 1,
    installationId: request.installationId,
    platform: 'linux',
    bootId: context.bootId,
    pid,
    processToken: before.start,
    uid,
    namespace: context.namespace,
    adapterEvidence: request.adapterEvidence,
  };
}
