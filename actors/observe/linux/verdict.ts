import type { ProcessIdentity } from '../../../machines/identity.ts';
import type { IdentityStrength } from '../sample.ts';
import type { SamplingContext } from './context.ts';
import type { Unreadable } from './errno.ts';
import type { Eyes } from './look.ts';
import { isLeaderZombie, isStopped, type ProcessStat } from './stat.ts';

export type AliveReason = 'running' | 'stopped' | 'leader_zombie' | 'uid_changed' | 'identity_weak';
/** The only four ways in which a recorded process is over (OBS-03). */
export type EndedReason = 'absent' | 'replaced' | 'boot_changed' | 'defunct';
export type UnknownReason =
  | Unreadable
  | 'foreign_installation'
  | 'foreign_platform'
  | 'evidence_version'
  | 'namespace_mismatch'
  | 'foreign_proc'
  | 'proc_hidden'
  | 'race'
  | 'context_changed';

export type Verdict =
  | {
      readonly result: 'alive';
      readonly reason: AliveReason;
      readonly signalable: boolean;
      readonly strength: IdentityStrength;
    }
  | {
      readonly result: 'ended';
      readonly reason: EndedReason;
      readonly signalable: false;
      readonly strength: IdentityStrength;
    }
  | {
      readonly result: 'unknown';
      readonly reason: UnknownReason;
      readonly signalable: false;
      readonly strength: IdentityStrength;
    };

export function unknown(reason: UnknownReason, strength: IdentityStrength = 'ticks'): Verdict {
  return { result: 'unknown', reason, signalable: false, strength };
}

export function ended(reason: EndedReason, strength: IdentityStrength = 'ticks'): Verdict {
  return { result: 'ended', reason, signalable: false, strength };
}

/**
 * Below this many pids a namespace can hand out the same pid twice within one 10 ms tick, so ticks prove nothing. Up to
 * 400 pids this was seen in ordinary forking and at 600 no more; the bound keeps a factor of six.
 */
export const SMALLEST_SAFE_PID_SPACE = 4_096;

/** The process with the recorded identity exists; says in which condition and whether a signal may be addressed to it. */
export function alive(
  identity: ProcessIdentity,
  seen: { stat: ProcessStat; uid: number; strength: IdentityStrength },
  context: SamplingContext,
): Verdict {
  const { stat, uid, strength } = seen;
  // The same process under another user (sudo, setuid): still ours to wait for, no longer ours to signal.
  if (uid !== identity.uid) return { result: 'alive', reason: 'uid_changed', signalable: false, strength };
  if (strength === 'ticks' && context.pidMax < SMALLEST_SAFE_PID_SPACE) {
    return { result: 'alive', reason: 'identity_weak', signalable: false, strength };
  }
  const reason = isLeaderZombie(stat) ? 'leader_zombie' : isStopped(stat) ? 'stopped' : 'running';
  return { result: 'alive', reason, signalable: true, strength };
}

/** Differences that settle the matter before anything of the process is read (ID-03, ID-06, verdict order of §5.4). */
export function settledByRecord(
  identity: ProcessIdentity,
  installationId: string,
  context: SamplingContext,
): Verdict | undefined {
  if (identity.evidenceVersion !== 1) return unknown('evidence_version');
  if (identity.installationId !== installationId) return unknown('foreign_installation');
  if (identity.platform !== 'linux') return unknown('foreign_platform');
  if (!Number.isSafeInteger(identity.pid) || identity.pid < 1) return unknown('malformed');
  if (identity.bootId !== context.bootId) return ended('boot_changed');
  if (identity.namespace !== context.namespace) return unknown('namespace_mismatch');
  return undefined;
}

/**
 * No procfs entry: absence only when the mount cannot hide this process and kill(2) does not know the pid either (OBS-05).
 * `unseen` means that somebody has the pid whom procfs did not show: look once more.
 */
export function absence(eyes: Eyes, identity: ProcessIdentity, context: SamplingContext): Verdict | 'unseen' {
  const conceals = context.hidePid === 'invisible' || context.hidePid === 'ptraceable';
  if (conceals && !context.seesAll && identity.uid !== context.uid) return unknown('proc_hidden');
  // Our own non-dumpable processes are hidden from us as well, so without the second witness nothing is proved.
  if (eyes.probe === undefined) return conceals ? unknown('proc_hidden') : ended('absent');
  const existence = eyes.probe(identity.pid);
  if (existence === 'no_such_process') return ended('absent');
  return existence === 'failed' ? unknown('io') : 'unseen';
}
