/**
 * Looking harms nobody: what fails in a timer, in a listener or in a promise that nobody waits for would end the daemon, so
 * it is written to the log instead.
 */
import type { Logger } from 'pino';

export type FailureLog = Pick<Logger, 'error'>;

export function guarded(log: FailureLog, work: () => void): void {
  try {
    work();
  } catch (error) {
    note(log, error);
  }
}

/** Never rejects; false when it failed. */
export async function guardedLater(log: FailureLog, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    note(log, error);
    return false;
  }
}

function note(log: FailureLog, error: unknown): void {
  const { name, stack } = error instanceof Error ? error : new Error(String(error));
  log.error({ name, stack: stack?.slice(0, 2_000) }, 'the inspector failed');
}
