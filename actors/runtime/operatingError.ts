/** An expected failure: a stable code, what it means for the exit status, and what to do next (section F, ruling 30). */

/** One error shape for every surface. `code` is normative; exit codes follow it (ruling 30). */
export interface ApiError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  /** Commands or actions that help, most useful first. */
  readonly next: readonly string[];
  readonly exitCode: number;
  /** What blocks: preconditions (exit 13), owning scopes (exit 6), differing fields (exit 11). */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface OperatingErrorFields {
  readonly code: string;
  readonly message: string;
  readonly exitCode: number;
  readonly retryable?: boolean;
  readonly next?: readonly string[];
  readonly details?: Readonly<Record<string, unknown>>;
}

export class OperatingError extends Error {
  override readonly name = 'OperatingError';
  readonly code: string;
  readonly exitCode: number;
  readonly retryable: boolean;
  readonly next: readonly string[];
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(fields: OperatingErrorFields, cause?: unknown) {
    super(fields.message, { cause });
    this.code = fields.code;
    this.exitCode = fields.exitCode;
    this.retryable = fields.retryable ?? false;
    this.next = fields.next ?? [];
    this.details = fields.details;
  }
}

/**
 * The wire form of anything thrown. Errors of other layers that carry code, exitCode and next are shown as they are;
 * the rest is a bug: its text may hold anything, so only its class name leaves the process.
 */
export function toApiError(thrown: unknown): ApiError {
  const error = thrown as Partial<OperatingErrorFields> & { readonly retryable?: boolean };
  if (thrown instanceof Error && typeof error.code === 'string' && typeof error.exitCode === 'number') {
    return {
      code: error.code,
      message: thrown.message,
      retryable: error.retryable ?? (error.exitCode === 10 || error.exitCode === 7),
      next: error.next ?? [],
      exitCode: error.exitCode,
      ...(error.details ? { details: error.details } : {}),
    };
  }
  const kind = thrown instanceof Error ? thrown.name : typeof thrown;
  return {
    code: 'internal_error',
    message: `unexpected ${kind}; log/daemon.log in the state directory has the details`,
    retryable: false,
    next: ['custody doctor'],
    exitCode: 1,
  };
}

/** What whoever waits in a daemon that leaves is told: its work goes on, and the successor knows the rest. */
export const daemonLeaving = (): OperatingError =>
  new OperatingError({
    code: 'daemon_leaving',
    message: 'the daemon left before what was waited for had happened; the work itself goes on',
    exitCode: 10,
    retryable: true,
    next: ['custody daemon start', 'repeat the command'],
  });

/** Where to look for an id that nothing has; what is over is listed on demand only. */
const lists: Readonly<Record<string, string>> = {
  goal: 'goals list',
  run: 'runs list',
  worktree: 'worktrees list',
  session: 'sessions list --all',
  disagreement: 'promote compare',
};

export const ambiguousId = (typed: string, matches: readonly string[]): OperatingError =>
  new OperatingError({
    code: 'ambiguous_id',
    message: `${JSON.stringify(typed)} is the beginning of several ids: ${matches.slice(0, 8).join(', ')}`,
    exitCode: 2,
    next: [`type more of it, such as ${matches[0]}`],
    details: { matches },
  });

/** What the first letter of an id says that it is of. */
const letters: Readonly<Record<string, string>> = { G: 'goal', R: 'run', W: 'worktree', P: 'session' };

export function notFound(what: string, id: string): OperatingError {
  const other = letters[id.charAt(0)];
  const isOther = other !== undefined && other !== what && what in lists;
  const hint = isOther ? `; ${id.charAt(0)} is the first letter of a ${other}'s id` : '';
  return new OperatingError({
    code: 'not_found',
    message: `no ${what} matches ${JSON.stringify(id)}${hint}`,
    exitCode: 3,
    next: [`custody ${lists[what] ?? 'events'}`],
  });
}
