/**
 * The three facts that Custody takes from `/proc/PID/status` (proc_pid_status(5)). The kernel escapes line feeds in the
 * `Name:` line, so a key at the start of a line is always the kernel's own.
 */

const UID_KEY = Buffer.from('\nUid:\t');
const TAB = 0x09;
const DIGIT_ZERO = 0x30;
const DIGIT_NINE = 0x39;

/** Bit number of CAP_SYS_PTRACE in a capability mask (capabilities(7)). */
const CAP_SYS_PTRACE = 19n;

/** The real user id out of the first `length` bytes, or undefined when the line is missing or torn. */
export function parseRealUid(bytes: Buffer, length: number): number | undefined {
  const key = bytes.indexOf(UID_KEY);
  if (key < 0) return undefined;
  let at = key + UID_KEY.length;
  const first = at;
  let value = 0;
  while (bytes[at]! >= DIGIT_ZERO && bytes[at]! <= DIGIT_NINE) {
    value = value * 10 + (bytes[at]! - DIGIT_ZERO);
    at += 1;
  }
  // The buffer is reused: whatever lies behind `length` belongs to an earlier process.
  if (at === first || at >= length || bytes[at] !== TAB) return undefined;
  return value;
}

export interface OwnStatus {
  readonly uid: number;
  /** This process's pid in every PID namespace from that of the procfs mount down to its own. */
  readonly pids: readonly number[];
  /** May look at processes of other users (CAP_SYS_PTRACE is effective). */
  readonly maySeeOthers: boolean;
}

/** Reads our own status text; undefined when a line that we rely on is missing. */
export function parseOwnStatus(text: string): OwnStatus | undefined {
  const uid = /^Uid:\t(\d+)\t/m.exec(text)?.[1];
  const pids = /^NSpid:\t([\d\t]+)$/m.exec(text)?.[1];
  const effective = /^CapEff:\t([0-9a-f]+)$/m.exec(text)?.[1];
  if (uid === undefined || pids === undefined || effective === undefined) return undefined;
  return {
    uid: Number(uid),
    pids: pids.split('\t').filter(Boolean).map(Number),
    maySeeOthers: ((BigInt(`0x${effective}`) >> CAP_SYS_PTRACE) & 1n) === 1n,
  };
}
