/**
 * Takes in what launchers note while the daemon serves: when the kernel tells of it, and from time to time anyhow. Then it
 * closes the gaps of earlier boots, and looks for the processes that records of other tools claim.
 */
import { SpoolWatch } from '../../ingest/spoolWatch.ts';
import type { Observer } from '../../reconcile/observer.ts';
import type { Runtime } from '../../runtime/runtime.ts';

type Parts = Pick<Runtime, 'places' | 'clock' | 'log' | 'leaving'> & { readonly observer: Observer };

/** Notes at once: others have their turn before the next ones. */
const atOnce = 1_000;

/** The net under the notifications of the kernel. */
const lookEveryMs = 60_000;

export class SpoolService {
  readonly #parts: Parts;
  readonly #watch: SpoolWatch;
  #isTaking = false;
  #isWanted = false;
  #cancel: (() => void) | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#watch = new SpoolWatch(parts.places.spoolDir, () => this.#want());
  }

  start(): void {
    this.#parts.leaving.addEventListener('abort', () => this.#stop(), { once: true });
    this.#watch.start();
    this.#look();
  }

  #stop(): void {
    this.#watch.stop();
    this.#cancel?.();
  }

  #look(): void {
    if (this.#parts.leaving.aborted) return;
    const { clock } = this.#parts;
    this.#want();
    this.#cancel = clock.wakeAt(clock.monoMs() + lookEveryMs, () => this.#look());
  }

  #want(): void {
    this.#isWanted = true;
    if (!this.#isTaking) void this.#take();
  }

  async #take(): Promise<void> {
    const { observer, log, leaving } = this.#parts;
    this.#isTaking = true;
    try {
      while (this.#isWanted && !leaving.aborted) {
        this.#isWanted = false;
        const { more, refusals, unread, damagedCounters } = await observer.takeSpool(atOnce);
        for (const refusal of refusals) log.warn(refusal, 'a note was refused');
        for (const producer of damagedCounters) log.warn({ producer }, 'the counter of its notes is damaged');
        for (const one of unread) log.warn(one, 'what a producer noted cannot be read');
        this.#isWanted ||= more;
      }
      if (!leaving.aborted) await observer.catchUp(atOnce);
    } catch (error) {
      // The notes stay where they are; the next look tries again.
      log.error({ code: (error as { code?: unknown })?.code }, 'the spool could not be taken in');
    } finally {
      this.#isTaking = false;
    }
  }
}
