/** Screens of recordings. The one that was looked at last stays where it is: whoever scrubs asks for what comes next. */
import { Playback } from './playback.ts';
import type { Instant, ScreenAt } from './protocol.ts';

export class Screens {
  #playback: Playback | undefined;

  /** Undefined where no recording can be read. Not to be called again before it has resolved. */
  async at(dir: string, at: Instant, signal?: AbortSignal): Promise<ScreenAt | undefined> {
    const isHere = this.#playback?.dir === dir && !this.#playback.isPast(at);
    if (!isHere) await this.#open(dir);
    await this.#playback?.to(at, signal);
    if (this.#playback?.isOutgrown) {
      // It goes on living: what came since may belong to that instant too.
      await this.#open(dir);
      await this.#playback.to(at, signal);
    }
    return this.#playback?.screen();
  }

  async close(): Promise<void> {
    await this.#playback?.close();
    this.#playback = undefined;
  }

  async #open(dir: string): Promise<void> {
    await this.close();
    this.#playback = await Playback.open(dir);
  }
}
