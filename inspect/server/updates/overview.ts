/**
 * The installation at a glance: health, capacity, findings. All of it is computed anew from what is open, so it is not asked
 * for with every commit, and less often the longer it takes.
 */
import type { InspectedDaemon } from '../../../actors/daemon/inspector/port.ts';
import type { FleetAnswer } from '../contract.ts';
import { guarded } from '../guarded.ts';

export type OverviewFields = Omit<FleetAnswer, 'actors' | 'complete' | 'omitted' | 'control' | 'position'>;

const pauseMs = 500;
const restFactor = 50;

type Told = (overview: OverviewFields) => void;

export class Overview {
  readonly #daemon: InspectedDaemon;
  #tell: Told = () => {};
  #isWatched: () => boolean = () => false;
  #last: string | undefined;
  #stop: (() => void) | undefined;
  #lastCostMs = 0;

  constructor(daemon: InspectedDaemon) {
    this.#daemon = daemon;
  }

  follow(isWatched: () => boolean, tell: Told): void {
    this.#isWatched = isWatched;
    this.#tell = tell;
  }

  read(): OverviewFields {
    const { health, capacity, admission, lifecycle, store, version } = this.#daemon;
    const now = health();
    return {
      version,
      installationId: store.installationId,
      admission: admission(),
      lifecycle: lifecycle(),
      health: now,
      capacity: capacity(),
      findings: now.reasons,
    };
  }

  /** Something may be other than before: it is looked at in a while, and told if it is. */
  changed(): void {
    if (!this.#isWatched()) return;
    const { clock, log } = this.#daemon;
    const rest = Math.max(pauseMs, this.#lastCostMs * restFactor);
    this.#stop ??= clock.wakeAt(clock.monoMs() + rest, () => {
      this.#stop = undefined;
      guarded(log, () => this.#look());
    });
  }

  #look(): void {
    if (!this.#isWatched()) return;
    const { clock } = this.#daemon;
    const begunMs = clock.monoMs();
    const overview = this.read();
    this.#lastCostMs = clock.monoMs() - begunMs;
    // What is worded by the clock does not count as news.
    const { health, findings: _, ...others } = overview;
    const told = JSON.stringify([health.digest, others]);
    if (told === this.#last) return;
    this.#last = told;
    this.#tell(overview);
  }

  close(): void {
    this.#stop?.();
  }
}
