/** How long to leave somebody alone: one second at first, doubled every further time, at most five minutes. */
export interface BackoffOptions {
  readonly firstMs?: number;
  readonly longestMs?: number;
  /** Keys remembered. A forgotten one is merely asked again sooner. */
  readonly limit?: number;
}

interface Pause {
  readonly times: number;
  readonly retryAtMonoMs: number;
}

/** Retry times by key, in memory only: after a restart everything may be looked at once (REC-09, OBS-04). */
export class Backoff {
  readonly #firstMs: number;
  readonly #longestMs: number;
  readonly #limit: number;
  readonly #pauses = new Map<string, Pause>();

  constructor(options: BackoffOptions = {}) {
    this.#firstMs = options.firstMs ?? 1_000;
    this.#longestMs = options.longestMs ?? 300_000;
    this.#limit = options.limit ?? 10_000;
  }

  isDue(key: string, nowMonoMs: number): boolean {
    const pause = this.#pauses.get(key);
    return pause === undefined || pause.retryAtMonoMs <= nowMonoMs;
  }

  /** Leaves it alone for longer than the last time, and returns when it is due again. */
  later(key: string, nowMonoMs: number): number {
    const times = (this.#pauses.get(key)?.times ?? 0) + 1;
    const waitMs = Math.min(this.#longestMs, this.#firstMs * 2 ** (times - 1));
    const retryAtMonoMs = Math.ceil(nowMonoMs + waitMs);
    this.#pauses.delete(key);
    if (this.#pauses.size >= this.#limit) this.#pauses.delete(this.#pauses.keys().next().value!);
    this.#pauses.set(key, { times, retryAtMonoMs });
    return retryAtMonoMs;
  }

  /** Due at once, and the next pause is the first one again. */
  reset(key: string): void {
    this.#pauses.delete(key);
  }
}
