import { Observable, type Subscriber } from 'rxjs';
import type { Clock } from '../clock.ts';

/** A stored deadline. `monoMs` means something only together with the boot that it was measured in (TIME-01). */
export interface Deadline {
  readonly deadlineId: string;
  readonly bootId: string;
  readonly monoMs: number;
}

export type DeadlineCommand<D extends Deadline> = { readonly arm: D } | { readonly disarm: string };

/** A deadline can ask somebody to look or to drain. None of these is a statement about a process (TIME-02). */
export type DeadlineSignal<D extends Deadline> =
  | {
      readonly type: 'reached';
      readonly deadline: D;
      readonly at: { readonly monoMs: number; readonly bootId: string };
    }
  | { readonly type: 'void'; readonly deadline: D; readonly reason: 'boot_changed'; readonly bootId: string }
  | {
      readonly type: 'graceGranted';
      readonly suspendedMs: number;
      readonly untilMonoMs: number;
      /** Deadlines that would have come sooner and were moved to `untilMonoMs`. */
      readonly deferred: readonly string[];
    };

export interface DeadlineOptions<D extends Deadline> {
  readonly commands$: Observable<DeadlineCommand<D>>;
  readonly clock: Clock;
  /** What everybody gets after a suspend before silence may be held against them. */
  readonly graceMs: number;
  /** How often the clocks are compared while something is armed. Without it a suspend is noticed at the next deadline only. */
  readonly checkMs?: number;
  /** A smaller difference between the clocks is rounding (the boot clock is read in steps of 10 ms). */
  readonly suspendThresholdMs?: number;
}

interface Armed<D> {
  readonly deadline: D;
  dueMonoMs: number;
}

class DeadlineService<D extends Deadline> {
  readonly #options: Required<DeadlineOptions<D>>;
  readonly #out: Subscriber<DeadlineSignal<D>>;
  readonly #armed = new Map<string, Armed<D>>();
  #suspendedMs: number;
  #cancelWake: (() => void) | undefined;
  #inputOver = false;

  constructor(options: DeadlineOptions<D>, out: Subscriber<DeadlineSignal<D>>) {
    this.#options = { checkMs: 5_000, suspendThresholdMs: 1_000, ...options };
    this.#out = out;
    this.#suspendedMs = this.#suspendOffset();
  }

  command(command: DeadlineCommand<D>): void {
    this.#noticeSuspend();
    if ('disarm' in command) this.#armed.delete(command.disarm);
    else this.#arm(command.arm);
    this.#settle();
  }

  inputOver(): void {
    this.#inputOver = true;
    this.#settle();
  }

  stop(): void {
    this.#cancelWake?.();
    this.#cancelWake = undefined;
    this.#armed.clear();
  }

  #arm(deadline: D): void {
    const bootId = this.#options.clock.bootId();
    if (deadline.bootId !== bootId) {
      this.#armed.delete(deadline.deadlineId);
      this.#out.next({ type: 'void', deadline, reason: 'boot_changed', bootId });
      return;
    }
    this.#armed.set(deadline.deadlineId, { deadline, dueMonoMs: deadline.monoMs });
  }

  #wake(): void {
    this.#cancelWake = undefined;
    // Before anything may fire: a machine that has just resumed owes everybody the grace first.
    this.#noticeSuspend();
    const now = this.#options.clock.monoMs();
    const bootId = this.#options.clock.bootId();
    const reached = [...this.#armed.values()].filter((armed) => armed.dueMonoMs <= now);
    reached.sort((left, right) => left.dueMonoMs - right.dueMonoMs);
    for (const { deadline } of reached) {
      // A subscriber may have disarmed or rearmed it in answer to an earlier signal of this round.
      if (this.#armed.get(deadline.deadlineId)?.deadline !== deadline) continue;
      this.#armed.delete(deadline.deadlineId);
      this.#out.next({ type: 'reached', deadline, at: { monoMs: Math.floor(now), bootId } });
    }
    this.#settle();
  }

  #noticeSuspend(): void {
    const offset = this.#suspendOffset();
    const suspendedMs = offset - this.#suspendedMs;
    if (suspendedMs < this.#options.suspendThresholdMs) return;
    this.#suspendedMs = offset;
    const untilMonoMs = this.#options.clock.monoMs() + this.#options.graceMs;
    const deferred: string[] = [];
    for (const armed of this.#armed.values()) {
      if (armed.dueMonoMs >= untilMonoMs) continue;
      armed.dueMonoMs = untilMonoMs;
      deferred.push(armed.deadline.deadlineId);
    }
    this.#out.next({ type: 'graceGranted', suspendedMs: Math.round(suspendedMs), untilMonoMs, deferred });
  }

  #settle(): void {
    this.#cancelWake?.();
    this.#cancelWake = undefined;
    if (this.#out.closed) return;
    if (this.#armed.size === 0) {
      if (this.#inputOver) this.#out.complete();
      return;
    }
    let next = this.#options.clock.monoMs() + this.#options.checkMs;
    for (const armed of this.#armed.values()) next = Math.min(next, armed.dueMonoMs);
    this.#cancelWake = this.#options.clock.wakeAt(next, () => this.#wake());
  }

  #suspendOffset(): number {
    return this.#options.clock.boottimeMs() - this.#options.clock.monoMs();
  }
}

/**
 * Compares armed deadlines with the monotonic clock of this boot and says which were reached, which belong to an earlier
 * boot, and when a suspend earned everybody one grace period (TIME-01, -03, -04). Re-arming an id replaces it.
 *
 * Completes when `commands$` has completed and nothing is armed any more; unsubscribing cancels the one timer it holds.
 */
export function deadlines$<D extends Deadline>(options: DeadlineOptions<D>): Observable<DeadlineSignal<D>> {
  return new Observable((out) => {
    const service = new DeadlineService(options, out);
    const input = options.commands$.subscribe({
      next: (command) => service.command(command),
      error: (error) => out.error(error),
      complete: () => service.inputOver(),
    });
    return () => {
      input.unsubscribe();
      service.stop();
    };
  });
}
