/**
 * Plays a recording on a screen. Forward it writes what lies between; backward it begins anew, because a terminal cannot
 * take anything back.
 */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { Recording } from './recording.ts';
import type { Screen } from './screen.ts';

/** A pause that nobody wants to sit through is cut to this when `skipPauses` is set. */
const longestPauseMs = 1_500;

export class Player {
  readonly #screen: Screen;
  readonly #recording: Recording;
  readonly #time = signal(0);
  readonly #playing = signal(false);
  readonly #missing = signal('');
  readonly speed = signal(1);
  readonly skipPauses = signal(true);
  #next = 0;
  /** Instant that the screen was given last; negative where it was given none. */
  #shownMs = -1;
  #isShowing = false;
  #frame = 0;
  #before = 0;

  constructor(screen: Screen, recording: Recording) {
    this.#screen = screen;
    this.#recording = recording;
    this.#begin();
  }

  get timeMs(): ReadonlySignal<number> {
    return this.#time;
  }

  /** What is not there of the output up to here, as the recording says it last; empty for nothing. */
  get missing(): ReadonlySignal<string> {
    return this.#missing;
  }

  get playing(): ReadonlySignal<boolean> {
    return this.#playing;
  }

  get durationMs(): number {
    return this.#recording.durationMs;
  }

  /** From the beginning again where it had come to the end. */
  play(): void {
    if (this.#playing.peek()) return;
    if (this.#time.peek() >= this.durationMs) this.seek(0);
    this.#playing.value = true;
    this.#before = performance.now();
    this.#frame = requestAnimationFrame(this.#tick);
  }

  pause(): void {
    cancelAnimationFrame(this.#frame);
    this.#playing.value = false;
  }

  toggle(): void {
    if (this.#playing.peek()) this.pause();
    else this.play();
  }

  /** Shows the instant; goes on playing where it did. */
  seek(timeMs: number): void {
    const target = Math.min(this.durationMs, Math.max(0, timeMs));
    this.#time.value = target;
    void this.#show();
  }

  dispose(): void {
    this.pause();
  }

  /** One instant after the other: what somebody has dragged past while the screen took the last one is left out. */
  async #show(): Promise<void> {
    if (this.#isShowing) return;
    this.#isShowing = true;
    while (this.#shownMs !== this.#time.peek()) {
      const target = this.#time.peek();
      if (target < this.#shownMs) this.#begin();
      this.#write(target);
      this.#shownMs = target;
      await this.#screen.settled();
    }
    this.#isShowing = false;
  }

  #begin(): void {
    this.#screen.clear();
    this.#screen.resize(this.#recording.cols, this.#recording.rows);
    this.#next = 0;
    this.#missing.value = '';
  }

  /** Everything up to and including `until`; output between two changes of size goes in one piece. */
  #write(until: number): void {
    let output: string[] = [];
    const flush = () => {
      if (output.length > 0) this.#screen.write(output.join(''));
      output = [];
    };
    for (; this.#next < this.#recording.events.length; this.#next += 1) {
      const event = this.#recording.events[this.#next]!;
      if (event.timeMs > until) break;
      if (event.kind === 'output') output.push(event.data);
      else if (event.kind === 'marker') this.#missing.value = event.data;
      else if (event.kind === 'resize') {
        flush();
        const [cols = 0, rows = 0] = event.data.split('x').map(Number);
        this.#screen.resize(cols, rows);
      }
    }
    flush();
  }

  readonly #tick = (now: number): void => {
    let time = this.#time.peek() + (now - this.#before) * this.speed.peek();
    this.#before = now;
    const next = this.#recording.events[this.#next]?.timeMs ?? this.durationMs;
    if (this.skipPauses.peek() && next - time > longestPauseMs) time = next - longestPauseMs;
    this.seek(time);
    if (time >= this.durationMs) this.pause();
    else this.#frame = requestAnimationFrame(this.#tick);
  };
}
