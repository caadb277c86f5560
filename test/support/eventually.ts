import { patienceMs } from './patience.ts';

/**
 * Polls until `probe` answers with something other than undefined. Only for facts that the kernel announces to nobody
 * (a process that is not our child, a file in somebody else's directory); everything else is awaited as an event.
 */
export async function eventually<T>(
  what: string,
  probe: () => T | undefined | Promise<T | undefined>,
  withinMs = patienceMs,
): Promise<T> {
  const deadline = process.hrtime.bigint() + BigInt(withinMs) * 1_000_000n;
  for (;;) {
    const found = await probe();
    if (found !== undefined) return found;
    if (process.hrtime.bigint() > deadline) throw new Error(`did not happen within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
