/** What takes longer than this has failed, and nobody waits for it any more. */
import { OperatingError } from '../../actors/runtime/operatingError.ts';

/** Rejects with `drill_stuck` (exit 1) when the time is over; the work itself is not ended by that. */
export async function within<T>(boundMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    const message = `it was not through after ${boundMs / 1_000} s`;
    timer = setTimeout(() => reject(new OperatingError({ code: 'drill_stuck', message, exitCode: 1 })), boundMs);
  });
  try {
    return await Promise.race([work, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}
