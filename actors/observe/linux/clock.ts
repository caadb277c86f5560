import type { Clock } from '../clock.ts';
import { readBootId } from './context.ts';
import { errnoOf } from './errno.ts';
import { createProcReader, type ProcReader } from './proc.ts';

/** Node's hrtime is CLOCK_MONOTONIC. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}

/** setTimeout takes 31 bits of ms; one hour is far below and costs nothing to renew. */
const LONGEST_TIMER_MS = 3_600_000;

export interface SystemClockOptions {
  readonly procRoot?: string;
  readonly proc?: ProcReader;
}

/** Without a boot id nothing can be dated, and so nothing observed (FAULT-07); it may be there the next time. */
export class ProcfsUnavailableError extends Error {
  readonly code = 'procfs_unavailable';
  readonly exitCode = 8;
  readonly retryable = true;
  readonly next: readonly string[] = ['mount /proc for this user, then repeat the command'];

  constructor(procRoot: string, cause: unknown) {
    super(`the boot id cannot be read below ${procRoot} (${errnoOf(cause) || 'malformed'})`, { cause });
    this.name = 'ProcfsUnavailableError';
  }
}

function bootIdIn(proc: ProcReader, procRoot: string): string {
  try {
    return readBootId(proc, procRoot);
  } catch (cause) {
    throw new ProcfsUnavailableError(procRoot, cause);
  }
}

/**
 * The clocks of this machine. Libuv's timers run on CLOCK_MONOTONIC too, so a suspended machine fires nothing late.
 * Throws ProcfsUnavailableError when the boot id cannot be read: a deadline without its boot means nothing.
 */
export function createSystemClock(options: SystemClockOptions = {}): Clock {
  const proc = options.proc ?? createProcReader();
  const procRoot = options.procRoot ?? '/proc';
  const bootId = bootIdIn(proc, procRoot);
  return {
    monoMs: monotonicMs,
    // The first number of proc_uptime(5) is CLOCK_BOOTTIME in hundredths of a second; Node reads that clock nowhere else.
    boottimeMs: () => Math.round(Number(proc.text(`${procRoot}/uptime`).split(' ')[0]) * 1_000),
    now: () => ({ wallMs: Date.now(), monoMs: Math.floor(monotonicMs()), bootId }),
    bootId: () => bootId,
    wakeAt(atMonoMs, wake) {
      const arm = (left: number): NodeJS.Timeout =>
        setTimeout(look, Math.min(LONGEST_TIMER_MS, Math.max(0, Math.ceil(left))));
      // Timers count whole milliseconds from a time that libuv rounds down, so they may fire up to one early.
      const look = (): void => {
        const left = atMonoMs - monotonicMs();
        if (left > 0) timer = arm(left);
        else wake();
      };
      let timer = arm(atMonoMs - monotonicMs());
      return () => clearTimeout(timer);
    },
  };
}
