/** What the daemon measures of itself, written down every few seconds while there is anything new (METR-01). */
import type { Recorder } from '../../metrics/recorder.ts';
import type { LaneEvent } from '../../observe/streams/observations.ts';
import { countOutcomes } from '../../reconcile/pass.ts';
import type { Runtime } from '../../runtime/runtime.ts';

type Parts = Pick<Runtime, 'clock' | 'log'> & { readonly recorder: Recorder };

/** What a killed daemon has measured since is lost: this long, at most. */
export const recordEveryMs = 10_000;

export class MeasuringService {
  readonly #parts: Parts;
  #outcomes: Record<string, number> = {};
  #hasLooked = false;
  #isServing = false;
  #isRecovered = false;
  #cancel: (() => void) | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Calls are taken from now on. */
  serving(): void {
    this.#isServing = true;
    this.#recoveredOnce();
    this.#later();
  }

  onLane(event: LaneEvent): void {
    if (event.type === 'batch') countOutcomes(this.#outcomes, event);
    else {
      // What came of a pass that did not come to its end is looked at again, and counted then.
      const outcomes = this.#outcomes;
      this.#outcomes = {};
      if (event.type === 'passEnded') this.#passed(event, outcomes);
    }
  }

  close(): void {
    this.#cancel?.();
    this.#record();
  }

  #passed(pass: Extract<LaneEvent, { type: 'passEnded' }>, outcomes: Readonly<Record<string, number>>): void {
    const { processed: lookedAt, paused: deferred, reads, elapsedMs, cursor } = pass;
    if (cursor === null) {
      this.#hasLooked = true;
      this.#recoveredOnce();
    }
    // Nobody was due: nothing was measured.
    if (lookedAt === 0) return;
    const { wallMs } = this.#parts.clock.now();
    this.#parts.recorder.pass({ wallMs, elapsedUs: elapsedMs * 1_000, reads, lookedAt, deferred, outcomes });
  }

  #recoveredOnce(): void {
    if (!this.#isServing || !this.#hasLooked || this.#isRecovered) return;
    this.#isRecovered = true;
    this.#parts.recorder.recovered('daemon', process.uptime() * 1_000);
  }

  #later(): void {
    const { clock } = this.#parts;
    this.#cancel = clock.wakeAt(clock.monoMs() + recordEveryMs, () => {
      this.#record();
      this.#later();
    });
  }

  /** A store that takes nothing says so by itself; what was measured waits. */
  #record(): void {
    const { recorder, log } = this.#parts;
    try {
      recorder.record();
    } catch (error) {
      log.warn({ code: (error as { code?: unknown })?.code }, 'what was measured could not be written down');
    }
  }
}
