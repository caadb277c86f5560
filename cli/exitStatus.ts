/** A workload's end as an exit status, the way shells report it. */
import type { RunView } from '../actors/daemon/api/views.ts';

/** ENOENT; the one errno for which shells have a status of their own. */
const noSuchFile = 2;

/**
 * Its own code, or 128 + signal; 127 and 126 when it could not be executed, 125 when it never ran, and 5 when how it
 * ended is not known: nothing is made up.
 */
export function exitStatusOf({ result }: Pick<RunView, 'result'>): number {
  if (result === null) return 5;
  switch (result.how) {
    case 'exited':
      return result.code ?? 5;
    case 'signaled':
    case 'dumped':
      return result.signal === null ? 5 : 128 + result.signal;
    case 'execFailed':
      return execFailureStatus(result.errno);
    case 'notReleased':
      return 125;
    default:
      return 5;
  }
}

/** What a shell says of a command that it could not execute. */
export const execFailureStatus = (errno: unknown): number => (errno === noSuchFile ? 127 : 126);
