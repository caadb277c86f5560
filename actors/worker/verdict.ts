/** What the end of a check says about the work: pure, so that the daemon comes to the same answer as the worker. */
import type { CheckEnd } from './messages.ts';

/**
 * `undefined` where the end says nothing about the work: it never ran, or its program could not be started. A check that
 * was made to end is never asked about here (SHUT-03): only the daemon knows, and it says so instead of naming an end.
 */
export function verdictOf({ how, code }: CheckEnd): 'accepted' | 'failed' | undefined {
  switch (how) {
    case 'exited':
      return code === 0 ? 'accepted' : 'failed';
    case 'signaled':
    case 'dumped':
      return 'failed';
    case 'execFailed':
    case 'notReleased':
      return undefined;
  }
}
