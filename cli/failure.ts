/**
 * Failures that the command line itself finds. They have the same shape as those of the daemon, so that a script meets
 * one form of error (section F); the exit status always follows the code.
 */

import type { ApiError } from '../actors/daemon/api/views.ts';
import { OperatingError, toApiError } from '../actors/runtime/operatingError.ts';

/** The caller typed something that no command understands: exit 2, with the nearest thing that works. */
export const usage = (message: string, next: readonly string[]): OperatingError =>
  new OperatingError({ code: 'usage', message, exitCode: 2, next });

export const daemonNotRunning = (stateDir: string): OperatingError =>
  new OperatingError({
    code: 'daemon_not_running',
    message: `no daemon serves ${stateDir}`,
    exitCode: 10,
    retryable: true,
    next: ['custody daemon start'],
    details: { stateDir },
  });

/** Somebody holds the store and cannot be asked: a daemon whose socket was taken away, or one that starts or leaves. */
export const daemonUnreachable = (stateDir: string, pid: number | null): OperatingError =>
  new OperatingError({
    code: 'daemon_unreachable',
    message: `${pid === null ? 'a process' : `a daemon (pid ${pid})`} holds the store of ${stateDir}, but nobody answers`,
    exitCode: 10,
    retryable: true,
    next: [
      'repeat the command: a daemon that lost its socket makes it anew within seconds',
      pid === null ? `fuser ${stateDir}/lock.db tells its pid` : `look at process ${pid}: it may be stopped or starved`,
    ],
    details: { stateDir, pid },
  });

export const notInitialised = (stateDir: string): OperatingError =>
  new OperatingError({
    code: 'store_missing',
    message: `there is no installation at ${stateDir}`,
    exitCode: 9,
    next: ['custody init'],
    details: { stateDir },
  });

/** The connection broke after the request was sent: whether it was carried out is unknown until it is repeated. */
export function daemonGone(
  requestId: string | undefined,
  again = 'repeat the command: it changes nothing',
): OperatingError {
  const repeat = requestId ? repeatWith(requestId) : again;
  return new OperatingError({
    code: 'daemon_gone',
    message: 'the daemon went away before it had answered',
    exitCode: 10,
    retryable: true,
    next: [repeat, 'custody daemon status'],
    ...(requestId ? { details: { requestId } } : {}),
  });
}

/** Silence proves nothing (D3): the daemon may be stopped, swapped out or busy, so this names it and moves nothing. */
export const daemonUnresponsive = (pid: number, waitedMs: number, requestId?: string): OperatingError =>
  new OperatingError({
    code: 'daemon_unresponsive',
    message: `the daemon (pid ${pid}) holds its socket but has not answered within ${waitedMs} ms`,
    exitCode: 10,
    retryable: true,
    next: [
      `look at process ${pid}: it may be stopped or starved`,
      ...(requestId ? [repeatWith(requestId)] : []),
      'custody doctor',
    ],
    details: { pid, waitedMs, ...(requestId ? { requestId } : {}) },
  });

const repeatWith = (requestId: string): string =>
  `repeat the command with --request-id ${requestId}: it is then done at most once`;

export const protocolError = (message: string): OperatingError =>
  new OperatingError({
    code: 'protocol_error',
    message: `the daemon's answer makes no sense: ${message}`,
    exitCode: 1,
    next: ['custody daemon status', 'custody daemon restart --keep-work'],
  });

/** A failure that travelled as data, thrown so that every command reports failures in one place. */
export const fromApi = (error: ApiError): OperatingError => new OperatingError(error);

/**
 * The wire form of anything thrown. The command line's own bugs are shown with their text: nothing in this process is
 * hidden from its caller, unlike in the daemon.
 */
export function failureOf(thrown: unknown): ApiError {
  const error = toApiError(thrown);
  if (error.code !== 'internal_error') return error;
  const text = thrown instanceof Error ? (process.env.CUSTODY_DEBUG ? thrown.stack : thrown.message) : String(thrown);
  return { ...error, message: text ?? error.message, next: ['repeat with CUSTODY_DEBUG=1 for the stack'] };
}
