/**
 * A row whose digest does not match: something other than this program changed it. Only the actor that it belongs to
 * fails closed; everything else goes on (ruling 27).
 */
export class CorruptRowError extends Error {
  override readonly name = 'CorruptRowError';
  readonly code = 'actor_corrupt';
  readonly exitCode = 9;
  readonly retryable = false;
  readonly next: readonly string[] = ['run `custody doctor`', 'restore the last `custody backup`'];

  /** `what` names the row, e.g. `run R0123456789`. */
  constructor(what: string) {
    super(`the stored ${what} is damaged: its digest does not match`);
  }
}
