import { errnoOf, isGone, type Unreadable, unreadable } from './errno.ts';
import type { ExistenceProbe } from './probe.ts';
import type { ProcReader } from './proc.ts';
import { type ProcessStat, parseStat } from './stat.ts';
import { parseRealUid } from './status.ts';

/** What the sampling code looks through. The buffer is shared by all looks: nothing in it outlives one parse. */
export interface Eyes {
  readonly proc: ProcReader;
  readonly procRoot: string;
  readonly buffer: Buffer;
  /** Absent in a build that may not call kill(2), not even with signal 0. */
  readonly probe?: ExistenceProbe | undefined;
}

/** A stat line is below 1 KiB and the `Uid:` line stands in the first 400 bytes of status. */
export const LOOK_BYTES = 4_096;

export type Gone = 'gone';

function failure(error: unknown): Gone | Unreadable {
  const code = errnoOf(error);
  if (code === '') throw error;
  return isGone(code) ? 'gone' : unreadable(code);
}

function statOf(eyes: Eyes, pid: number, length: number): ProcessStat | Unreadable {
  const stat = parseStat(eyes.buffer, length);
  return stat === undefined || stat.pid !== pid ? 'malformed' : stat;
}

export function lookAtStat(eyes: Eyes, pid: number): ProcessStat | Gone | Unreadable {
  try {
    return statOf(eyes, pid, eyes.proc.read(`${eyes.procRoot}/${pid}/stat`, eyes.buffer));
  } catch (error) {
    return failure(error);
  }
}

/** The real user id; the owner of the directory would be the effective one. */
export function lookAtUid(eyes: Eyes, pid: number): number | Gone | Unreadable {
  try {
    const length = eyes.proc.read(`${eyes.procRoot}/${pid}/status`, eyes.buffer);
    return parseRealUid(eyes.buffer, length) ?? 'malformed';
  } catch (error) {
    return failure(error);
  }
}

/** The same two looks through descriptors that were opened earlier: `gone` then is final for that process. */
export function lookAtPinnedStat(eyes: Eyes, pid: number, fd: number): ProcessStat | Gone | Unreadable {
  try {
    return statOf(eyes, pid, eyes.proc.readPinned(fd, eyes.buffer));
  } catch (error) {
    return failure(error);
  }
}

export function lookAtPinnedUid(eyes: Eyes, fd: number): number | Gone | Unreadable {
  try {
    return parseRealUid(eyes.buffer, eyes.proc.readPinned(fd, eyes.buffer)) ?? 'malformed';
  } catch (error) {
    return failure(error);
  }
}
