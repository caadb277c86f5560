/**
 * `unreachable`: nothing listens there, which is no proof of an end. `unresponsive`: it listens and does not answer
 * (a stopped guardian is alive). `closed`: the connection ended in the middle. `refused`: it answered with an error.
 */
export type ControlErrorCode = 'guardian_unreachable' | 'unresponsive' | 'control_closed' | 'control_refused';

export class ControlError extends Error {
  readonly code: ControlErrorCode;
  readonly next = ['observe the guardian and its receipts; the answer of its socket proves nothing'] as const;

  constructor(code: ControlErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ControlError';
    this.code = code;
  }
}
