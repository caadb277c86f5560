/** Why a launch ended before its release, as the caller hears it and as the scope records it. */
import { EvidenceUnavailableError, GuardianLaunchError } from '../../../pty/launch/errors.ts';
import { OperatingError } from '../../runtime/operatingError.ts';

/** A launch that came to an end by itself: nothing failed, it was overtaken. */
export class LaunchStopped extends Error {
  readonly fact: 'notStarted' | 'abandoned';
  readonly reason: string;

  constructor(fact: LaunchStopped['fact'], reason: string) {
    super(reason);
    this.fact = fact;
    this.reason = reason;
  }
}

/** In words: what overtook a launch before its gate was opened. */
export function abandonedMessage(reason: string): string {
  return reason === 'drain_requested'
    ? 'its end was asked for (a stop, a cancel, a deadline or a shutdown) before it could begin; nothing ran'
    : `the launch was abandoned before it could begin (${reason}); nothing ran`;
}

const exitCodes: Readonly<Record<string, number>> = {
  evidence_unavailable: 10,
  guardian_missing: 8,
  request_invalid: 2,
  guardian_refused: 8,
  launch_abandoned: 13,
  internal_error: 1,
};

/** Another attempt helps where the environment stood in the way, and nowhere else. */
export function severityOf(code: string): { readonly exitCode: number; readonly retryable: boolean } {
  const exitCode = exitCodes[code] ?? 10;
  return { exitCode, retryable: exitCode === 10 };
}

export function explain(error: unknown): {
  readonly fact: 'notStarted' | 'abandoned';
  readonly reason: string;
  readonly code: string;
  readonly message: string;
  readonly next: readonly string[];
} {
  if (error instanceof EvidenceUnavailableError) {
    return { fact: 'notStarted', reason: 'capture_space', code: error.code, message: error.message, next: error.next };
  }
  if (error instanceof GuardianLaunchError) {
    const fact = error.phase === 'spawn' ? 'notStarted' : 'abandoned';
    return { fact, reason: error.phase, code: error.code, message: error.message, next: error.next };
  }
  if (error instanceof LaunchStopped) {
    return {
      fact: error.fact,
      reason: error.reason,
      code: 'launch_abandoned',
      message: abandonedMessage(error.reason),
      next: [],
    };
  }
  if (error instanceof OperatingError) {
    const { code, message, next } = error;
    return { fact: 'abandoned', reason: code, code, message, next };
  }
  const code = (error as { code?: unknown } | null)?.code;
  const known = typeof code === 'string' && /^[A-Za-z_]{1,64}$/.test(code) ? code : 'internal_error';
  return {
    fact: 'abandoned',
    reason: 'internal_error',
    code: known,
    message: `the launch failed: ${known}`,
    next: ['custody doctor'],
  };
}
