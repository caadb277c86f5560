/** What the server does not do, as an answer: a stable code, what it means, and what to do instead. */
import { toApiError } from '../../../actors/runtime/operatingError.ts';
import { type Refused, refusals } from '../contract.ts';

type Code = (typeof refusals)[keyof typeof refusals];

const statuses: Readonly<Record<Code, number>> = {
  unauthorised: 401,
  foreign_request: 403,
  read_only: 403,
  invalid_arguments: 400,
  not_found: 404,
  method_not_allowed: 405,
  too_large: 413,
  daemon_leaving: 503,
  busy: 503,
  record_corrupt: 409,
};

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly code: string;
  readonly next: readonly string[];

  constructor(code: Code, message: string, next: readonly string[] = []) {
    super(message);
    this.code = code;
    this.status = statuses[code];
    this.next = next;
  }
}

export const invalid = (message: string): Refusal => new Refusal(refusals.invalid, message);
export const notHere = (what: string): Refusal => new Refusal(refusals.notFound, `there is no ${what}`);

/** By the exit status that the command line would end with (section F). */
const statusOfExit: Readonly<Record<number, number>> = { 2: 400, 3: 404, 4: 403, 10: 503 };

export interface Answered {
  readonly status: number;
  readonly body: Refused;
  /** Nobody expected it: for the log. */
  readonly isBug: boolean;
}

/** The answer to anything thrown. Of a bug nothing but its class leaves the process. */
export function answerTo(thrown: unknown): Answered {
  if (thrown instanceof Refusal) {
    const { status, code, message, next } = thrown;
    return { status, body: { error: { code, message, next } }, isBug: false };
  }
  const { code, message, next, exitCode } = toApiError(thrown);
  const isBug = code === 'internal_error';
  return { status: isBug ? 500 : (statusOfExit[exitCode] ?? 409), body: { error: { code, message, next } }, isBug };
}
