/**
 * Cuts `/proc/PID/stat` (proc_pid_stat(5)) out of raw bytes. The command name in parentheses is chosen by the process
 * itself and may hold spaces, parentheses and bytes that are no UTF-8, so nothing is decoded and the fields are counted
 * from the last `)`; every field after it is written by the kernel.
 */

const SPACE = 0x20;
const NEWLINE = 0x0a;
const OPEN_PARENTHESIS = 0x28;
const CLOSE_PARENTHESIS = 0x29;
const DIGIT_ZERO = 0x30;
const DIGIT_NINE = 0x39;

/** Field numbers as the manual page counts them; the state is field 3 and the first one after the name. */
const STATE_FIELD = 3;
const THREADS_FIELD = 20;
const START_FIELD = 22;

export interface ProcessStat {
  readonly pid: number;
  /** One letter: R, S, D, T, t, Z, X, I and what later kernels add. */
  readonly state: string;
  /** Threads of the group that are not yet released, the leader included. */
  readonly threads: number;
  /** Clock ticks after boot as a decimal string: equal or not equal, never a time. */
  readonly start: string;
}

function digitsEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at]! >= DIGIT_ZERO && bytes[at]! <= DIGIT_NINE) at += 1;
  return at;
}

function decimal(bytes: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at += 1) value = value * 10 + (bytes[at]! - DIGIT_ZERO);
  return value;
}

/** The first byte of a later field, or -1 when the line ends before it. */
function skipFields(line: Uint8Array, from: number, count: number): number {
  let at = from;
  for (let left = count; left > 0; left -= 1) {
    while (line[at] !== SPACE) {
      if (line[at] === NEWLINE) return -1;
      at += 1;
    }
    at += 1;
  }
  return at;
}

/**
 * Parses the first `length` bytes of `bytes`. Returns undefined for anything that is not one complete line: a torn read
 * must become "unknown", never a process with a short start time.
 */
export function parseStat(bytes: Buffer, length: number): ProcessStat | undefined {
  const end = length - 1;
  if (end < 0 || bytes[end] !== NEWLINE) return undefined;
  const pidEnd = digitsEnd(bytes, 0, end);
  if (pidEnd === 0 || bytes[pidEnd] !== SPACE || bytes[pidEnd + 1] !== OPEN_PARENTHESIS) return undefined;
  let close = end - 1;
  while (close > pidEnd && bytes[close] !== CLOSE_PARENTHESIS) close -= 1;
  if (close <= pidEnd || bytes[close + 1] !== SPACE) return undefined;

  const stateAt = close + 2;
  if (stateAt >= end || bytes[stateAt] === SPACE || bytes[stateAt + 1] !== SPACE) return undefined;
  const threadsAt = skipFields(bytes, stateAt, THREADS_FIELD - STATE_FIELD);
  if (threadsAt < 0) return undefined;
  const threadsEnd = digitsEnd(bytes, threadsAt, end);
  if (threadsEnd === threadsAt || bytes[threadsEnd] !== SPACE) return undefined;
  const startAt = skipFields(bytes, threadsAt, START_FIELD - THREADS_FIELD);
  if (startAt < 0) return undefined;
  const startEnd = digitsEnd(bytes, startAt, end);
  if (startEnd === startAt || bytes[startEnd] !== SPACE) return undefined;

  return {
    pid: decimal(bytes, 0, pidEnd),
    state: String.fromCharCode(bytes[stateAt]!),
    threads: decimal(bytes, threadsAt, threadsEnd),
    start: bytes.toString('latin1', startAt, startEnd),
  };
}

/** Dead with nothing of its group left to run. A zombie leader whose threads run on is not. */
export function isDefunct(stat: ProcessStat): boolean {
  return stat.state === 'Z' && stat.threads <= 1;
}

/** The kernel is releasing this process at this moment; the next look sees more. */
export function isVanishing(stat: ProcessStat): boolean {
  return (stat.state === 'X' || stat.state === 'x') && stat.threads <= 1;
}

export function isStopped(stat: ProcessStat): boolean {
  return stat.state === 'T' || stat.state === 't';
}

/** The leader has exited while another thread of the same process runs on. */
export function isLeaderZombie(stat: ProcessStat): boolean {
  return (stat.state === 'Z' || stat.state === 'X' || stat.state === 'x') && stat.threads > 1;
}
