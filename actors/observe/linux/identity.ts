import type { ProcessIdentity } from '../../../machines/identity.ts';

/** A process as the guardian names it in its handshake and its receipts. */
export interface GuardianEvidence {
  readonly pid: number;
  readonly start: string;
  readonly pidfs: string | null;
}

export interface EvidenceContext {
  readonly installationId: ProcessIdentity['installationId'];
  readonly bootId: string;
  readonly pidns: string;
  readonly timens: string;
  readonly uid: number;
}

/** The record of a process that the guardian identified, in the adapter's own notation. Both sides must agree on it (ID-01). */
export function identityFromGuardian(context: EvidenceContext, process: GuardianEvidence): ProcessIdentity {
  return {
    evidenceVersion: 1,
    installationId: context.installationId,
    platform: 'linux',
    bootId: context.bootId,
    pid: process.pid,
    processToken: process.start,
    uid: context.uid,
    namespace: `pid:${context.pidns},time:${context.timens}`,
    adapterEvidence: process.pidfs ?? '',
  };
}

/** The other way round: a recorded process in a guardian's words, to be compared with its receipts. */
export function guardianEvidence(identity: ProcessIdentity): GuardianEvidence {
  const { pid, processToken, adapterEvidence } = identity;
  return { pid, start: processToken, pidfs: adapterEvidence === '' ? null : adapterEvidence };
}

/** Ticks of different boots or time namespaces have no order (time_namespaces(7)). */
export function beganInOrder(identities: readonly ProcessIdentity[]): boolean {
  return identities.every((one, at) => {
    const before = identities[at - 1];
    if (before === undefined) return true;
    const isComparable = before.bootId === one.bootId && before.namespace === one.namespace;
    return isComparable && BigInt(before.processToken) <= BigInt(one.processToken);
  });
}

/** Start ticks are hundredths of a second of CLOCK_BOOTTIME (proc_pid_stat(5), field 22). */
const tickMs = 10;

/**
 * Whether a process can have begun by a moment, for statistics and never as evidence (ID-02). Moments have CLOCK_MONOTONIC,
 * which stands still while the machine is suspended, so what it was suspended for up to now is added to them.
 */
export function mayHaveBegunBy(
  { bootId, processToken }: ProcessIdentity,
  moment: { readonly bootId: string; readonly monoMs: number },
  suspendedMs: number,
): boolean {
  return bootId === moment.bootId && Number(processToken) * tickMs <= moment.monoMs + suspendedMs;
}
