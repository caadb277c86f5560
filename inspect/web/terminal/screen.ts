/** One xterm.js in the page: it shows, and takes no input. */
import { Terminal } from '@xterm/xterm';
import './adoptedStyle.ts';

const largestFont = 13;
/** Smaller letters cannot be read: what does not fit is scrolled to. */
const smallestFont = 8;
/** Width of a letter of the monospaced fonts in question, as a part of the font size. */
const letterRatio = 0.6022;

export class Screen {
  readonly #terminal: Terminal;
  readonly #place: HTMLElement;
  readonly #observer: ResizeObserver;
  #isDisposed = false;

  constructor(place: HTMLElement) {
    this.#place = place;
    this.#terminal = new Terminal({
      cols: 80,
      rows: 24,
      disableStdin: true,
      cursorBlink: false,
      scrollback: 5_000,
      // A link that a workload wrote (OSC 8) leads out of this page, to wherever it likes.
      linkHandler: { activate() {} },
      fontSize: largestFont,
      fontFamily: 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace',
      theme: {
        background: '#14161a',
        foreground: '#d7dae0',
        cursor: '#d7dae0',
        black: '#5c6370',
        brightBlack: '#8b929e',
      },
    });
    this.#terminal.open(place);
    // What takes no input is no stop on the way through the page.
    this.#terminal.textarea?.setAttribute('tabindex', '-1');
    this.#terminal.textarea?.setAttribute('aria-hidden', 'true');
    this.#observer = new ResizeObserver(() => this.#fit());
    this.#observer.observe(place);
    this.#fit();
  }

  write(data: string | Uint8Array): void {
    this.#terminal.write(data);
  }

  /** Resolves when everything that was written so far is on the screen. */
  settled(): Promise<void> {
    return new Promise((resolve) => this.#terminal.write('', resolve));
  }

  /** RIS, the full reset of terminals: also whatever was begun and not ended, such as half a letter, is gone. */
  clear(): void {
    this.#terminal.write(Uint8Array.of(0x1b, 0x63));
  }

  resize(cols: number, rows: number): void {
    if (cols < 1 || rows < 1) return;
    this.#inTurn(() => {
      this.#terminal.resize(cols, rows);
      this.#fit();
    });
  }

  /** What is on the screen, line by line. */
  lines(): readonly string[] {
    const { active } = this.#terminal.buffer;
    return Array.from({ length: this.#terminal.rows }, (_, row) => {
      return active.getLine(active.baseY + row)?.translateToString(true) ?? '';
    });
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#observer.disconnect();
    this.#terminal.dispose();
  }

  /** What is written waits in a queue of the terminal; done at once, this would come before what was written earlier. */
  #inTurn(act: () => void): void {
    this.#terminal.write('', () => {
      if (!this.#isDisposed) act();
    });
  }

  /** As large as the width allows: the lines are those that the program drew, and are never broken anew. */
  #fit(): void {
    const room = this.#place.clientWidth - 16;
    if (room <= 0) return;
    const size = Math.floor(room / (this.#terminal.cols * letterRatio));
    const fontSize = Math.max(smallestFont, Math.min(largestFont, size));
    if (this.#terminal.options.fontSize !== fontSize) this.#terminal.options.fontSize = fontSize;
  }
}
