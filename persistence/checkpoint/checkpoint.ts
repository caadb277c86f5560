/**
 * Shortens the journal in steps (RET-01): each is one short transaction, bounded in rows and in time, that removes rows and
 * says how far it has come. Between two steps everybody else may write. A kill between any two commits loses nothing: what
 * is gone was not needed, and the next checkpoint goes on behind it. Deduplication is left as it is (RET-03).
 */
import type { Store } from '../store.ts';
import type { Ending } from '../tables/endings.ts';
import type { EffectCursor } from '../tables/outbox.ts';
import { Dependencies } from './dependencies.ts';
import { bytesOf, type CheckpointRules, keepingOf } from './keeping.ts';
import {
  atTheBeginning,
  countRemoved,
  finishProgress,
  type KeptReason,
  type Progress,
  removedSoFar,
  storedProgress,
  storeProgress,
} from './progress.ts';

export interface StepBounds {
  /** Rows that one step looks at. */
  readonly rows: number;
  /** A step that has taken so long begins no further row; its commit comes on top. */
  readonly ms: number;
}

export interface CheckpointOptions {
  readonly store: Store;
  readonly rules: CheckpointRules;
  readonly bounds: StepBounds;
  /** CLOCK_MONOTONIC in milliseconds. */
  readonly monoMs: () => number;
  readonly wallMs: number;
  /** Counts what would go, and removes nothing. */
  readonly dryRun?: boolean;
  /** For tests: told where a crash has to be harmless. */
  readonly failpoint?: (point: 'before_checkpoint_commit' | 'after_checkpoint_commit') => void;
}

export interface CheckpointReport extends Omit<Progress, 'actorKey' | 'position'> {
  readonly dryRun: boolean;
  readonly rows: { readonly before: number; readonly after: number };
}

type Phase = 'reading' | 'events' | 'effects' | 'space' | 'done';

/** Free pages that one step cuts off. */
const pagesPerStep = 128;
/** Snapshots that one step reads: each is hashed and searched, which takes some 20 µs. */
const snapshotsPerStep = 100;

export class Checkpoint {
  readonly #options: CheckpointOptions;
  readonly #needs: Dependencies;
  readonly #rowsBefore: number;
  #phase: Phase = 'reading';
  #progress: Progress;
  #effects: EffectCursor = { position: 0, ordinal: -1 };

  constructor(options: CheckpointOptions) {
    const { store, dryRun = false } = options;
    this.#options = options;
    this.#needs = new Dependencies(store);
    this.#rowsBefore = rowsIn(store);
    this.#progress = (dryRun ? undefined : storedProgress(store.meta)) ?? atTheBeginning;
  }

  /** One bounded step; false when there is nothing left to do. Throws StoreError; the same step may be tried again then. */
  step(): boolean {
    switch (this.#phase) {
      case 'reading':
        if (!this.#needs.readOn(snapshotsPerStep)) this.#phase = 'events';
        return true;
      case 'events':
        return this.#commit(() => this.#sweepEvents());
      case 'effects':
        return this.#commit(() => this.#sweepEffects());
      case 'space':
        return this.#commit(() => this.#giveBack());
      case 'done':
        return false;
    }
  }

  report(): CheckpointReport {
    const { removed, kept, range, steps } = this.#progress;
    const { dryRun = false, store } = this.#options;
    const after = dryRun ? this.#rowsBefore - removed.events : rowsIn(store);
    const counted = Object.values(kept).reduce((sum, count) => sum + count, 0);
    const notOver = Math.max(0, after - counted);
    return {
      dryRun,
      rows: { before: dryRun ? this.#rowsBefore : after + removed.events, after },
      removed,
      kept: notOver === 0 ? kept : { ...kept, not_over: notOver },
      range,
      steps,
    };
  }

  /** `work` returns what is true after the commit, and only then it is believed. */
  #commit(
    work: () => { readonly progress: Progress; readonly phase: Phase; readonly effects?: EffectCursor },
  ): boolean {
    const { store, dryRun = false, failpoint = () => {} } = this.#options;
    const attempt = () => {
      const next = work();
      const progress = { ...next.progress, steps: next.progress.steps + 1 };
      if (!dryRun) this.#record(progress, next.phase);
      failpoint('before_checkpoint_commit');
      return { ...next, progress };
    };
    const { progress, phase, effects } = dryRun ? attempt() : store.write(attempt);
    failpoint('after_checkpoint_commit');
    this.#progress = progress;
    this.#phase = phase;
    this.#effects = effects ?? this.#effects;
    return phase !== 'done';
  }

  #record(progress: Progress, phase: Phase): void {
    const { store, wallMs } = this.#options;
    if (phase !== 'done') {
      storeProgress(store.meta, progress);
      return;
    }
    finishProgress(store.meta, rowsIn(store));
    const { actorKey: _key, position: _position, ...report } = progress;
    store.retentions.insert({ wallMs, what: 'checkpoint', position: store.journal.lastPosition(), report });
  }

  #sweepEvents(): { progress: Progress; phase: Phase } {
    const { store, dryRun = false } = this.#options;
    const sweep = new Sweep(this.#options, this.#needs, this.#progress);
    // Somebody has written faster than we can read: what they cite comes first.
    if (!this.#needs.catchUp(snapshotsPerStep)) return { progress: this.#progress, phase: 'events' };
    const isOver = sweep.run();
    if (!dryRun && sweep.gone.length > 0) {
      for (const position of sweep.gone) store.journal.remove(position);
      countRemoved(store.meta, sweep.gone);
    }
    return { progress: sweep.progress(), phase: isOver ? 'effects' : 'events' };
  }

  /** What was done stays known as long as its event is young: somebody may want to know what became of it. */
  #sweepEffects(): { progress: Progress; phase: Phase; effects: EffectCursor } {
    const { store, bounds, rules, dryRun = false } = this.#options;
    const found = store.outbox.finished(this.#effects, bounds.rows);
    const old = found.filter(({ position }) => isOld(store, position, rules.cutoffWallMs));
    if (!dryRun) for (const effect of old) store.outbox.remove(effect);
    const { removed } = this.#progress;
    const progress = { ...this.#progress, removed: { ...removed, effects: removed.effects + old.length } };
    const last = found.at(-1);
    return last === undefined || found.length < bounds.rows
      ? { progress, phase: 'space', effects: this.#effects }
      : { progress, phase: 'effects', effects: last };
  }

  #giveBack(): { progress: Progress; phase: Phase } {
    const { store, dryRun = false } = this.#options;
    const { shrinks, freeBytes } = store.space.measure();
    const isDone = dryRun || !shrinks || freeBytes === 0;
    if (!isDone) store.space.giveBack(pagesPerStep);
    return { progress: this.#progress, phase: isDone ? 'done' : 'space' };
  }
}

/** One step through the rows of actors that are over. */
class Sweep {
  readonly gone: number[] = [];
  readonly #options: CheckpointOptions;
  readonly #needs: Dependencies;
  readonly #kept: Partial<Record<KeptReason, number>>;
  readonly #start: Progress;
  readonly #endMonoMs: number;
  #left: number;
  #bytes = 0;
  #actorKey: number;
  #position: number;

  constructor(options: CheckpointOptions, needs: Dependencies, start: Progress) {
    this.#options = options;
    this.#needs = needs;
    this.#start = start;
    this.#kept = { ...start.kept };
    this.#left = options.bounds.rows;
    this.#endMonoMs = options.monoMs() + options.bounds.ms;
    this.#actorKey = start.actorKey;
    this.#position = start.position;
  }

  /** Whether all actors have been seen. */
  run(): boolean {
    const { endings } = this.#options.store;
    for (;;) {
      if (this.#left <= 0) return false;
      // The actor of the cursor is looked at again: it may have been left in the middle.
      const ending = endings.next(this.#actorKey - (this.#position > 0 ? 1 : 0));
      if (ending === undefined) return true;
      if (ending.actorKey !== this.#actorKey) this.#position = 0;
      this.#actorKey = ending.actorKey;
      if (!this.#rowsOf(ending)) return false;
      this.#position = 0;
    }
  }

  /** False when the step is over before the rows of the actor are. */
  #rowsOf(ending: Ending): boolean {
    const { store, rules, monoMs } = this.#options;
    const keeping = keepingOf(store, ending, { rules, needs: this.#needs });
    for (;;) {
      const rows = store.journal.rowsOf(ending.actorKey, this.#position, Math.min(this.#left, 64));
      for (const row of rows) {
        const reason = keeping.reasonFor(row);
        if (reason === undefined) {
          this.gone.push(row.position);
          this.#bytes += bytesOf(row);
        } else this.#kept[reason] = (this.#kept[reason] ?? 0) + 1;
        this.#position = row.position;
        this.#left -= 1;
        if (monoMs() >= this.#endMonoMs) this.#left = 0;
        if (this.#left <= 0) return false;
      }
      if (rows.length === 0) {
        this.#left -= 1;
        return true;
      }
    }
  }

  progress(): Progress {
    const { removed, range, steps } = this.#start;
    const positions = [...this.gone, ...(range ?? [])];
    return {
      actorKey: this.#actorKey,
      position: this.#position,
      removed: {
        ...removed,
        events: removed.events + this.gone.length,
        bytes: removed.bytes + this.#bytes,
      },
      kept: this.#kept,
      range:
        positions.length === 0
          ? null
          : [positions.reduce((a, b) => Math.min(a, b)), positions.reduce((a, b) => Math.max(a, b))],
      steps,
    };
  }
}

/** Where its event is gone, it was old. */
function isOld({ journal }: Store, position: number, cutoffWallMs: number): boolean {
  const row = journal.firstFrom(position);
  if (row === undefined || row.position !== position) return true;
  if (!row.intact) return false;
  const { at } = JSON.parse(row.envelope) as { readonly at?: { readonly wallMs?: unknown } };
  return typeof at?.wallMs === 'number' && at.wallMs < cutoffWallMs;
}

/** Rows that the journal holds: positions are consecutive, and only checkpoints remove any. */
export const rowsIn = ({ journal, meta }: Pick<Store, 'journal' | 'meta'>): number =>
  journal.lastPosition() - removedSoFar(meta);
