import { readdirSync } from 'node:fs';
import type { ProcessIdentity } from '../../../machines/identity.ts';
import type { SamplingContext } from './context.ts';
import { errnoOf } from './errno.ts';
import { type Eyes, lookAtStat, lookAtUid } from './look.ts';
import { alive, ended, unknown, type Verdict } from './verdict.ts';

/**
 * Start ticks are not unique, the inode number of a pidfd is (pidfs, Linux 6.9), but Node can open no pidfd. Procfs offers
 * that number in one place: `fdinfo` of a pidfd that somebody holds (`ino:`, and `Pid:` which turns to -1 once the process
 * is reaped). A guardian holds one for its workload, readable by us when it is dumpable or we may ptrace it. Where it is
 * not readable, the number stays what the guardian reported at the handshake and is compared with receipts only.
 */
export interface PidfdHolder {
  /** The process that holds the pidfd, normally the guardian. */
  readonly pid: number;
  readonly fd: number;
}

interface PidfdInfo {
  readonly inode: string;
  /** -1 once the process has been reaped, 0 when it lives in a namespace that this procfs does not show. */
  readonly pid: number;
}

export function parsePidfdInfo(text: string): PidfdInfo | undefined {
  const inode = /^ino:\t(\d+)$/m.exec(text)?.[1];
  const pid = /^Pid:\t(-?\d+)$/m.exec(text)?.[1];
  return inode === undefined || pid === undefined ? undefined : { inode, pid: Number(pid) };
}

function readInfo(eyes: Eyes, holder: PidfdHolder): PidfdInfo | undefined {
  try {
    const length = eyes.proc.read(`${eyes.procRoot}/${holder.pid}/fdinfo/${holder.fd}`, eyes.buffer);
    return parsePidfdInfo(eyes.buffer.toString('latin1', 0, length));
  } catch (error) {
    if (errnoOf(error) === '') throw error;
    return undefined;
  }
}

/**
 * Looks through the descriptors of one named process for a pidfd of `identity`: done once when a scope is adopted, never in
 * a pass. Undefined when it holds none or when we may not look.
 */
export function findPidfdHolder(eyes: Eyes, identity: ProcessIdentity, holderPid: number): PidfdHolder | undefined {
  if (identity.adapterEvidence === '') return undefined;
  let names: string[];
  try {
    names = readdirSync(`${eyes.procRoot}/${holderPid}/fdinfo`);
  } catch (error) {
    if (errnoOf(error) === '') throw error;
    return undefined;
  }
  for (const name of names) {
    const holder = { pid: holderPid, fd: Number(name) };
    if (readInfo(eyes, holder)?.inode === identity.adapterEvidence) return holder;
  }
  return undefined;
}

export interface PidfdSampleRequest {
  readonly identity: ProcessIdentity;
  readonly context: SamplingContext;
  readonly holder: PidfdHolder;
}

/**
 * One process through somebody's pidfd, at most three reads. Undefined when the descriptor shows something else by now:
 * then the path has to do.
 */
export function sampleByPidfd(eyes: Eyes, request: PidfdSampleRequest): Verdict | undefined {
  const { identity, context, holder } = request;
  const info = readInfo(eyes, holder);
  if (info === undefined || info.inode !== identity.adapterEvidence) return undefined;
  if (info.pid === -1) return ended(lookAtStat(eyes, identity.pid) === 'gone' ? 'absent' : 'replaced', 'pidfd');
  if (info.pid !== identity.pid) return undefined;

  const uid = lookAtUid(eyes, identity.pid);
  const stat = lookAtStat(eyes, identity.pid);
  if (uid === 'gone' || stat === 'gone') return undefined;
  if (typeof uid === 'string') return unknown(uid, 'pidfd');
  if (typeof stat === 'string') return unknown(stat, 'pidfd');
  if (stat.start !== identity.processToken) return undefined;
  if (stat.state === 'Z' && stat.threads <= 1) return ended('defunct', 'pidfd');
  return alive(identity, { stat, uid, strength: 'pidfd' }, context);
}
