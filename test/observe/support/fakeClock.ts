import type { Clock } from '../../../actors/observe/clock.ts';

/** Clocks that move when a test says so. Wakers run in the order of their times, each at its own time. */
export class FakeClock implements Clock {
  #mono: number;
  #suspended = 0;
  #wall = 1_700_000_000_000;
  #bootId = 'boot-1';
  readonly #wakers = new Set<{ at: number; wake: () => void }>();

  constructor(monoMs = 1_000) {
    this.#mono = monoMs;
  }

  monoMs = () => this.#mono;
  boottimeMs = () => this.#mono + this.#suspended;
  bootId = () => this.#bootId;
  now = () => ({ wallMs: this.#wall, monoMs: Math.floor(this.#mono), bootId: this.#bootId });

  get sleeping(): number {
    return this.#wakers.size;
  }

  wakeAt(at: number, wake: () => void): () => void {
    const waker = { at, wake };
    this.#wakers.add(waker);
    return () => this.#wakers.delete(waker);
  }

  advance(ms: number): void {
    const until = this.#mono + ms;
    for (;;) {
      const due = [...this.#wakers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#wakers.delete(due);
      this.#mono = Math.max(this.#mono, due.at);
      due.wake();
    }
    this.#mono = until;
  }

  /** The machine sleeps: boot time goes on, monotonic time and timers do not. */
  suspend(ms: number): void {
    this.#suspended += ms;
  }

  setWall(byMs: number): void {
    this.#wall += byMs;
  }

  reboot(bootId: string): void {
    this.#bootId = bootId;
    this.#mono = 0;
    this.#suspended = 0;
  }
}
