/** How a session gets onto the terminal of a viewer. */
import type { Size, ViewerTerminal } from './viewerTerminal.ts';

/** What makes a freshly reset terminal of this size show a screen; empty for one that is not known. */
export interface Screen extends Size {
  readonly repaint: Uint8Array;
}

export interface Display {
  /** Shows this from now on. */
  begin(screen: Screen): void;
  /** Undefined when more may come at once, else what to wait for. */
  output(bytes: Buffer): Promise<void> | undefined;
  /** What the program has to hear of what was typed. */
  typed(bytes: Buffer): Buffer;
  /** The viewer's window has another size, and this display is still the right one. */
  resized(): void;
  /** Resolves when the terminal has been given everything that came. */
  shown(): Promise<void>;
  /** The session is over: what it said last stays in sight. */
  finish(): void;
  close(): void;
}

/** For a window of the session's own size: byte for byte. */
export class Passthrough implements Display {
  readonly #terminal: ViewerTerminal;

  constructor(terminal: ViewerTerminal) {
    this.#terminal = terminal;
  }

  begin({ repaint }: Screen): void {
    if (repaint.length > 0) this.#terminal.repaint(repaint);
  }

  output(bytes: Buffer): Promise<void> | undefined {
    return this.#terminal.pass(bytes) ? undefined : this.#terminal.drained();
  }

  typed(bytes: Buffer): Buffer {
    return bytes;
  }

  resized(): void {}

  shown(): Promise<void> {
    return Promise.resolve();
  }

  finish(): void {}

  close(): void {}
}
