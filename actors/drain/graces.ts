/** Graces that this daemon itself waits out, because no guardian is left to do it. They only ever become shorter. */
import type { Clock } from '../observe/clock.ts';

export class Graces {
  readonly #clock: Pick<Clock, 'monoMs'>;
  readonly #untilMonoMs = new Map<string, number>();

  constructor(clock: Pick<Clock, 'monoMs'>) {
    this.#clock = clock;
  }

  /** `wait` is told when the grace ends, as often as it asks. */
  async during(scopeId: string, graceMs: number, wait: (untilMonoMs: () => number) => Promise<void>): Promise<void> {
    const latestMonoMs = this.#clock.monoMs() + graceMs;
    this.#untilMonoMs.set(scopeId, latestMonoMs);
    try {
      await wait(() => this.#untilMonoMs.get(scopeId) ?? latestMonoMs);
    } finally {
      this.#untilMonoMs.delete(scopeId);
    }
  }

  shorten(scopeId: string, graceMs: number): void {
    const until = this.#untilMonoMs.get(scopeId);
    if (until !== undefined) this.#untilMonoMs.set(scopeId, Math.min(until, this.#clock.monoMs() + graceMs));
  }
}
