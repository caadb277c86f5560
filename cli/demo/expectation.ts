/** Nothing is claimed that was not seen: whatever differs from the promise ends what claims it. */
import { OperatingError } from '../../actors/runtime/operatingError.ts';

/** Throws `demo_failed` (exit 1) with what should have been and what was. */
export function expectThat(holds: boolean, promise: string, seen?: unknown): asserts holds {
  if (holds) return;
  throw new OperatingError({
    code: 'demo_failed',
    message: `it was expected that ${promise}${seen === undefined ? '' : `; it saw ${JSON.stringify(seen)}`}`,
    exitCode: 1,
    next: ['custody demo --keep, then read what is in the directory that it names', 'custody doctor'],
  });
}

/** The value, or `demo_failed` when the answer does not hold it. */
export function found<T>(value: T | null | undefined, what: string): T {
  expectThat(value !== undefined && value !== null, `there is ${what}`);
  return value as T;
}

const withinMs = 20_000;
const againMs = 10;

/** Returns once `probe` holds: for what nobody announces to this process. Throws `demo_failed` if it never does. */
export async function eventually(signal: AbortSignal, promise: string, probe: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await probe())) {
    signal.throwIfAborted();
    expectThat(performance.now() < deadline, promise);
    await new Promise((resolve) => setTimeout(resolve, againMs));
  }
}
