/**
 * How long a call waits for more output once the work itself has ended (CAP-02, ruling 10): descendants may hold the
 * output open for ever, silent or writing, and whoever asked wants to go on. The record stays open all the same.
 */
import { isLeftToResidents } from '../../../machines/assessment.ts';
import { required } from '../../runtime/actorAccess.ts';
import type { DaemonContext } from '../context.ts';

/** What a busy machine may need between the end of the last process and its proof. */
const proofWithin = 10;

export class FinalDrain {
  readonly #context: DaemonContext;
  readonly #scopeId: string;
  readonly #wake: () => void;
  #startedMonoMs: number | undefined;
  #lastNewMonoMs = 0;
  #stopClock: (() => void) | undefined;

  /** `wake` is called when there is reason to ask again. */
  constructor(context: DaemonContext, scopeId: string, wake: () => void) {
    this.#context = context;
    this.#scopeId = scopeId;
    this.#wake = wake;
  }

  /**
   * Asked again and again once the authentic status of the root is known; `isNew` says that there was output since the
   * last time. True when finalDrainMs have passed without any, or captureJoinMs in all, while somebody is left.
   */
  async isOver(isNew: boolean): Promise<boolean> {
    const { clock, config, host } = this.#context;
    if (isLeftToResidents(required(host, 'executionScope', this.#scopeId))) return true;
    const now = clock.monoMs();
    this.#startedMonoMs ??= now;
    if (isNew || this.#lastNewMonoMs === 0) this.#lastNewMonoMs = now;
    const joinMonoMs = this.#startedMonoMs + config.captureJoinMs;
    const boundMonoMs = Math.min(this.#lastNewMonoMs + config.finalDrainMs, joinMonoMs);
    if (now >= boundMonoMs) {
      if (await this.#isSomebodyLeft(now < joinMonoMs)) return true;
      // Nobody holds the output, so this is no wait for descendants: the proof is on its way.
      if (now >= this.#startedMonoMs + proofWithin * config.captureJoinMs) return true;
    }
    this.#stopClock?.();
    const nextMonoMs = boundMonoMs > now ? boundMonoMs : now + Math.max(config.finalDrainMs, 10);
    this.#stopClock = clock.wakeAt(nextMonoMs, this.#wake);
    return false;
  }

  /** A guardian that does not say has until the join bound; afterwards its silence does not keep the caller. */
  async #isSomebodyLeft(isEarly: boolean): Promise<boolean> {
    const { guardians, receipts, host } = this.#context;
    // The proof may be on the disk and not yet here.
    await receipts.look(this.#scopeId);
    if (required(host, 'executionScope', this.#scopeId).hasTag('capacityReleased')) return false;
    const membership = await guardians.members(this.#scopeId);
    if (membership === undefined) return !isEarly;
    return membership.members.some(({ state }) => state !== 'Z');
  }

  close(): void {
    this.#stopClock?.();
  }
}
