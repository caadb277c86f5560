/**
 * Everything that removes for good, one piece of work at a time and each in small steps (RET-01, RET-04). By itself the
 * daemon works between other things: not while anything is launched or ended, and with a pause after every step.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Checkpoint, type CheckpointReport, rowsIn } from '../../../persistence/checkpoint/checkpoint.ts';
import { forgetEventIds, horizonFor } from '../../../persistence/checkpoint/eventIds.ts';
import { rowsAfterLast, storedProgress } from '../../../persistence/checkpoint/progress.ts';
import type { Failpoint } from '../../host/failpoint.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Config } from '../config.ts';
import type { PendingLaunches } from '../launch/pendingLaunches.ts';
import { isEnding, lifecycleOf, type Root } from '../root.ts';
import { type ArtifactReport, ArtifactRetirement } from './artifacts.ts';

type Parts = Pick<Runtime, 'host' | 'store' | 'clock' | 'log' | 'leaving' | 'places'> & {
  readonly config: Config;
  readonly root: Root;
  readonly pendingLaunches: PendingLaunches;
  readonly failpoint: (point: Failpoint) => void;
};

/** How often it is looked whether there is anything to do. */
const lookMs = 60_000;
/** After each step of the daemon's own, and while it is busy with something else. */
const pauseMs = 50;
/** A journal of which nothing more can go is not swept again before it has grown by this part of its bound. */
const growth = 0.1;
const hourMs = 3_600_000;

interface Stepping {
  step(): boolean;
}

export class RetentionLane {
  readonly #parts: Parts;
  #last: Promise<unknown> = Promise.resolve();
  #isWorking = false;
  #stopClock: (() => void) | undefined;
  #endPause: (() => void) | undefined;
  #artifactsDueMonoMs = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    const { clock } = this.#parts;
    this.#stopClock = clock.wakeAt(clock.monoMs() + lookMs, () => {
      this.look();
      this.start();
    });
  }

  /** Begins what is due. What it runs into is logged, and tried again with the next look. */
  look(): void {
    if (this.#isWorking) return;
    const { config, clock } = this.#parts;
    if (this.#isJournalDue()) this.#begin('the journal could not be shortened', () => this.#checkpoint(), true);
    if (config.artifacts !== 'retire' || clock.monoMs() < this.#artifactsDueMonoMs) return;
    this.#artifactsDueMonoMs = clock.monoMs() + hourMs;
    this.#begin('files that are not needed could not be removed', () => this.#retirement(), true);
  }

  /** Resolves when nothing is being removed; a step that has begun is carried to its end. */
  async close(): Promise<void> {
    this.#stopClock?.();
    this.#endPause?.();
    await this.#last.catch(() => undefined);
  }

  /** At once, for somebody who waits. Rejects with StoreError, or with why the daemon leaves. */
  async checkpoint({ dryRun }: { readonly dryRun: boolean }): Promise<CheckpointReport> {
    const checkpoint = await this.#serially(() => this.#checkpoint(dryRun), false);
    return checkpoint.report();
  }

  async retire({ dryRun, ageMs }: { readonly dryRun: boolean; readonly ageMs?: number }): Promise<ArtifactReport> {
    const retirement = await this.#serially(() => this.#retirement(dryRun, ageMs), false);
    return retirement.report();
  }

  async forgetEventIds({ keepStarts, dryRun }: { readonly keepStarts: number; readonly dryRun: boolean }) {
    const { store, clock, config } = this.#parts;
    const horizon = horizonFor(store, keepStarts);
    let forgotten = 0;
    await this.#serially(() => {
      const { wallMs } = clock.now();
      const steps = forgetEventIds({ store, horizon, wallMs, rows: config.journalStepRows, dryRun });
      return {
        step() {
          const { done, value } = steps.next();
          forgotten = value;
          return done !== true;
        },
      };
    }, false);
    return { horizon, forgotten };
  }

  #isJournalDue(): boolean {
    const { store, config } = this.#parts;
    if (storedProgress(store.meta) !== undefined) return true;
    const rows = rowsIn(store);
    return rows > config.journalRows && rows - rowsAfterLast(store.meta) >= growth * config.journalRows;
  }

  #checkpoint(dryRun = false): Checkpoint {
    const { store, config, clock, failpoint } = this.#parts;
    const { wallMs } = clock.now();
    return new Checkpoint({
      store,
      rules: {
        newestEvents: config.journalNewestEvents,
        // With an age of 0 nothing is young, whatever the clock said then.
        cutoffWallMs:
          config.journalAgeHours === 0 ? Number.POSITIVE_INFINITY : wallMs - config.journalAgeHours * hourMs,
      },
      bounds: { rows: config.journalStepRows, ms: config.journalStepMs },
      monoMs: () => clock.monoMs(),
      wallMs,
      dryRun,
      failpoint,
    });
  }

  #retirement(dryRun = false, ageMs = this.#parts.config.artifactAgeHours * hourMs): ArtifactRetirement {
    return new ArtifactRetirement(this.#parts, { dryRun, ageMs });
  }

  #begin<Work extends Stepping>(trouble: string, make: () => Work, isPatient: boolean): void {
    const { log, leaving } = this.#parts;
    this.#serially(make, isPatient).catch((error: unknown) => {
      if (!leaving.aborted) log.warn({ code: (error as { code?: unknown })?.code }, trouble);
    });
  }

  #serially<Work extends Stepping>(make: () => Work, isPatient: boolean): Promise<Work> {
    const run = this.#last.catch(() => undefined).then(() => this.#run(make, isPatient));
    this.#last = run;
    return run;
  }

  async #run<Work extends Stepping>(make: () => Work, isPatient: boolean): Promise<Work> {
    this.#isWorking = true;
    try {
      this.#parts.leaving.throwIfAborted();
      const work = make();
      while (work.step()) {
        await (isPatient ? this.#whenIdle() : nextTurn());
        this.#parts.leaving.throwIfAborted();
      }
      return work;
    } finally {
      this.#isWorking = false;
    }
  }

  async #whenIdle(): Promise<void> {
    const { root, pendingLaunches, clock, leaving } = this.#parts;
    do {
      await new Promise<void>((resolve) => {
        const stop = clock.wakeAt(clock.monoMs() + pauseMs, resolve);
        this.#endPause = () => {
          stop();
          resolve();
        };
      });
    } while (!leaving.aborted && (isEnding(root) || lifecycleOf(root) !== 'serving' || !pendingLaunches.isEmpty));
  }
}
