/** What can be wrong with the spool of notes as a whole; what is wrong with one note is data (persistence/spool.ts). */
const codes = {
  spool_refused: {
    exitCode: 9,
    retryable: false,
    next: ['look at what stands there; then make it a directory of yours alone: chown it to your user, chmod 700'],
  },
  spool_unreadable: {
    exitCode: 10,
    retryable: true,
    next: ['check the file system of the state directory and the limit of open files, then retry'],
  },
} as const;

export type SpoolErrorCode = keyof typeof codes;

export class SpoolError extends Error {
  override readonly name = 'SpoolError';
  readonly code: SpoolErrorCode;
  readonly exitCode: 9 | 10;
  readonly retryable: boolean;
  readonly next: readonly string[];

  constructor(code: SpoolErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.exitCode = codes[code].exitCode;
    this.retryable = codes[code].retryable;
    this.next = codes[code].next;
  }
}

export const errnoOf = (thrown: unknown): string => (thrown as NodeJS.ErrnoException | undefined)?.code ?? '';
