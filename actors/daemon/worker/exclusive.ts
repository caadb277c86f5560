/**
 * Who may end or replace things at this moment: recovery, a stop and a drain each take all of it (REC-01). The store's lock
 * makes this process the only daemon of its runtime, so one object in it is enough; what a recovery had reached when the
 * daemon died stands in the fence's own record.
 */
import type { Clock } from '../../observe/clock.ts';
import { OperatingError } from '../../runtime/operatingError.ts';

/** The one holder that is waited for: it ends by itself, and soon. */
export const recoveryVerb = 'recovery';

export interface Holder {
  /** What it does, in a word that people know: `recovery`, `daemon stop`, `drain`. */
  readonly verb: string;
  readonly sinceWallMs: number;
}

interface Patience {
  readonly clock: Pick<Clock, 'monoMs' | 'wakeAt'>;
  readonly withinMs: number;
}

export class Exclusive {
  readonly #wallMs: () => number;
  #holder: Holder | undefined;
  readonly #freed = new Set<() => void>();

  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
  }

  get holder(): Holder | undefined {
    return this.#holder;
  }

  /** Undefined while somebody else holds it. Whoever gets it has to call what is returned, once. */
  tryHold(verb: string): (() => void) | undefined {
    if (this.#holder !== undefined) return undefined;
    const mine: Holder = { verb, sinceWallMs: this.#wallMs() };
    this.#holder = mine;
    return () => {
      if (this.#holder !== mine) return;
      this.#holder = undefined;
      for (const wake of [...this.#freed]) wake();
    };
  }

  /** Throws `fence_busy` (exit 7), naming the holder, without waiting for anything. */
  hold(verb: string): () => void {
    const release = this.tryHold(verb);
    if (release !== undefined) return release;
    const { verb: holding, sinceWallMs } = this.#holder!;
    throw new OperatingError({
      code: 'fence_busy',
      message: `${holding} is in progress since ${new Date(sinceWallMs).toISOString()}; ${verb} would interfere`,
      exitCode: 7,
      retryable: true,
      next: ['custody status', `repeat the command when ${holding} is over`],
      details: { holder: holding, sinceWallMs },
    });
  }

  /** As `hold`, but a recovery in progress has this long to come to its next rest. */
  async holdAfterRecovery(verb: string, { clock, withinMs }: Patience): Promise<() => void> {
    if (this.#holder?.verb !== recoveryVerb) return this.hold(verb);
    const release = await new Promise<(() => void) | undefined>((resolve) => {
      const stopClock = clock.wakeAt(clock.monoMs() + withinMs, () => {
        forget();
        resolve(undefined);
      });
      // Taken in the call that frees it: whoever is woken by the same call would be quicker than this promise. And taken
      // once: what a promise that is settled already were given, nobody would ever give back.
      const forget = this.onFreed(() => {
        stopClock();
        forget();
        resolve(this.tryHold(verb));
      });
    });
    return release ?? this.hold(verb);
  }

  /** Returns how to stop being told. */
  onFreed(wake: () => void): () => void {
    this.#freed.add(wake);
    return () => void this.#freed.delete(wake);
  }
}
