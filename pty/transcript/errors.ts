import { getSystemErrorName } from 'node:util';

/** A system error as the transcript knows it. */
export interface WriteFailure {
  /** `ENOSPC` and the like. */
  readonly code: string;
  /** Positive; 0 where the kernel was not the one who said no. */
  readonly errno: number;
}

export function writeFailure(error: unknown): WriteFailure {
  const errno = Math.abs((error as NodeJS.ErrnoException | undefined)?.errno ?? 0);
  try {
    return { code: errno === 0 ? 'unknown' : getSystemErrorName(-errno), errno };
  } catch {
    return { code: `errno ${errno}`, errno };
  }
}

/** The transcript of a session has no place on disk, so the session must not start (evidence or no execution). */
export class TranscriptUnavailableError extends Error {
  readonly code = 'transcript_unavailable';
  readonly errno: number;
  readonly next = ['free space in the transcript directory, or check its owner and mode, then launch again'] as const;

  constructor(cause: unknown) {
    const { code, errno } = writeFailure(cause);
    super(`a transcript cannot be created (${code})`, { cause });
    this.name = 'TranscriptUnavailableError';
    this.errno = errno;
  }
}

/** Bytes that were asked for are not there: removed by the cap, lost with a segment, or not written yet. */
export class TranscriptRangeError extends Error {
  readonly code = 'transcript_range_unavailable';
  /** First byte that cannot be had. */
  readonly offset: number;
  readonly next = ['ask for what the transcript still holds: its summary names the ranges'] as const;

  constructor(offset: number, cause?: unknown) {
    super(`the transcript has no byte ${offset}`, { cause });
    this.name = 'TranscriptRangeError';
    this.offset = offset;
  }
}

/** Nothing of the transcript can be understood; `findings` of its summary say why. */
export class TranscriptUnreadableError extends Error {
  readonly code = 'transcript_unreadable';
  readonly next = ['read its raw segments by hand, or use the version of Custody that wrote it'] as const;

  constructor(reasons: readonly string[]) {
    super(`the transcript cannot be read: ${reasons.join(', ')}`);
    this.name = 'TranscriptUnreadableError';
  }
}
