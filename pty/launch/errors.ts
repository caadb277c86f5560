import { getSystemErrorName } from 'node:util';

/**
 * Where a launch ended. `spawn`: no guardian exists. `handshake`: it ended or was silent before it reported both
 * identities. `gate`: it was asked to open the gate. Only in `gate` may the workload have started.
 */
export type LaunchPhase = 'spawn' | 'handshake' | 'gate';

export type LaunchErrorCode =
  | 'request_invalid'
  | 'guardian_missing'
  | 'spawn_failed'
  | 'guardian_refused'
  | 'guardian_died'
  | 'handshake_timeout'
  | 'protocol_error'
  | 'not_released'
  | 'release_uncertain';

interface LaunchErrorFields {
  code: LaunchErrorCode;
  phase: LaunchPhase;
  /** Positive system error number; null where the kernel was not the one who said no. */
  errno?: number | null;
  /** The guardian's own step (`guardian_refused`) or reason (`not_released`). */
  step?: string | null;
  /** Exit code of a guardian that refused: 64, 73, 75 or 125. */
  exitCode?: number | null;
  cause?: unknown;
}

const nextSteps: Record<LaunchErrorCode, string> = {
  request_invalid: 'correct the request: no NUL bytes, at least one argument, absolute paths, at most 8 MiB',
  guardian_missing: 'run `npm rebuild custody` to build the guardian',
  spawn_failed: 'free processes, memory or descriptors, then launch again',
  guardian_refused: 'see the step: 73 is receipt space, 75 an enclosing guardian, 125 a kernel feature',
  guardian_died: 'nothing ran; launch again under a new scope',
  handshake_timeout: 'nothing ran; the machine is overloaded or the guardian was stopped: launch again',
  protocol_error: 'the guardian is of another version; run `npm rebuild custody`',
  not_released: 'nothing ran; launch again under a new scope',
  release_uncertain: 'treat the workload as started and wait for its receipts',
};

/** Where the step says more than the code. */
const nextOfSteps: Readonly<Record<string, string>> = {
  transcript_unavailable:
    'make room, and look at owner and mode, where it is to lie: transcripts/, /dev/shm if not recorded',
};

/** A launch that did not reach its end. Every code but `release_uncertain` means that the image never ran. */
export class GuardianLaunchError extends Error {
  readonly code: LaunchErrorCode;
  readonly phase: LaunchPhase;
  readonly errno: number | null;
  readonly step: string | null;
  readonly exitCode: number | null;
  readonly next: readonly string[];

  constructor(fields: LaunchErrorFields) {
    const { code, phase, errno = null, step = null, exitCode = null, cause } = fields;
    const details = [step, errno === null ? null : errorName(errno)].filter((part) => part !== null);
    super(`${code} in ${phase}${details.length > 0 ? ` (${details.join(', ')})` : ''}`, { cause });
    this.name = 'GuardianLaunchError';
    this.code = code;
    this.phase = phase;
    this.errno = errno;
    this.step = step;
    this.exitCode = exitCode;
    this.next = [nextOfSteps[step ?? ''] ?? nextSteps[code]];
  }
}

/** The receipts of a launch have no place on disk, so there must be no launch (evidence or no execution). */
export class EvidenceUnavailableError extends Error {
  readonly code = 'evidence_unavailable';
  readonly errno: number | null;
  readonly next = ['free space in the state directory, or check its owner and mode, then launch again'] as const;

  constructor(cause: unknown) {
    const errno = errnoOf(cause);
    super(`receipt space cannot be reserved${errno === null ? '' : ` (${errorName(errno)})`}`, { cause });
    this.name = 'EvidenceUnavailableError';
    this.errno = errno;
  }
}

/** Node reports system errors as negative numbers; the guardian and the kernel count them positive. */
export function errnoOf(error: unknown): number | null {
  const value = (error as NodeJS.ErrnoException | undefined)?.errno;
  return typeof value === 'number' ? Math.abs(value) : null;
}

function errorName(errno: number): string {
  try {
    return getSystemErrorName(-errno);
  } catch {
    return `errno ${errno}`;
  }
}
