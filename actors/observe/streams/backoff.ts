/** How long to leave somebody alone: one second at first, doubled every further time, at most five minutes. */
export interface BackoffOptions {
  readonly firstMs?: number;
  readonly longestMs?: number;
  /** Keys remembered. A forgotten one is merely asked again sooner. */
  readonly limit?: number;
}

/** The pause after so many times (from 1), in ms: doubled every time, and no longer than the longest. */
export const pauseAfter = (times: number, { firstMs, longestMs }: Required<Omit<BackoffOptions, 'limit'>>): number =>
  Math.min(longestMs, firstMs * 2 ** (times - 1));

interface Pause {
  readonly times: number;
  readonly retryAtMonoMs: number;
}

/** Retry times by key, in memory only: after a restart everything may be looked at once (REC-09, OBS-04). */
export class Backoff {
  readonly #bounds: Required<Omit<BackoffOptions, 'limit'>>;
  readonly #limit: number;
  readonly #pauses = new Map<string, Pause>();

  constructor(options: BackoffOptions = {}) {
    this.#bounds = { firstMs: options.firstMs ?? 1_000, longestMs: options.longestMs ?? 300_000 };
    this.#limit = options.limit ?? 10_000;
  }

  isDue(key: string, nowMonoMs: number): boolean {
    const pause = this.#pauses.get(key);
    return pause === undefined || pause.retryAtMonoMs <= nowMonoMs;
  }

  /** Leaves it alone for longer than the last time, and returns when it is due again. */
  later(key: string, nowMonoMs: number): number {
    const times = (this.#pauses.get(key)?.times ?? 0) + 1;
    const retryAtMonoMs = Math.ceil(nowMonoMs + pauseAfter(times, this.#bounds));
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
