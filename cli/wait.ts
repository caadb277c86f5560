/** Waiting for a run, with a sign of life on a terminal. */
import type { CallResults } from '../actors/daemon/api/results.ts';
import { OperatingError } from '../actors/runtime/operatingError.ts';
import type { Invocation } from './invocation.ts';
import type { Answer } from './output.ts';
import { duration } from './print/quantity.ts';

interface Wanted {
  readonly id: string;
  readonly until: 'ended' | 'proved';
  readonly waitMs: number | undefined;
}

/** Throws `wait_timed_out` (exit 14) and what else the daemon refuses, always naming the run: the caller may have no other trace of it. */
export async function waitForRun(invocation: Invocation, wanted: Wanted): Promise<Answer<CallResults['runs.wait']>> {
  const done = tellTime(
    invocation,
    `waiting until ${wanted.id} has ${wanted.until === 'ended' ? 'ended' : 'been proved'}`,
  );
  try {
    return await invocation.call('runs.wait', wanted);
  } catch (cause) {
    if (!(cause instanceof OperatingError)) throw cause;
    const { code, message, exitCode, retryable } = cause;
    const again = `custody runs wait ${wanted.id}`;
    const next = retryable ? [...new Set([...cause.next, again])] : cause.next;
    throw new OperatingError({
      code,
      message,
      exitCode,
      retryable,
      next,
      details: { runId: wanted.id, ...cause.details },
    });
  } finally {
    done();
  }
}

/** Shows `text` and the time that has passed once a second; returns how to end that. */
export function tellTime({ output }: Invocation, text: string): () => void {
  const since = Date.now();
  const show = () => output.status(`${text} (${duration(Date.now() - since)})`);
  const timer = setInterval(show, 1_000);
  return () => {
    clearInterval(timer);
    output.clearStatus();
  };
}
