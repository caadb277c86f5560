/**
 * A window on a session of another size. What the session says goes into a terminal of the session's size in here, and
 * what of its screen fits is painted, often enough to look immediate and never more often than anybody can see.
 */
import type headless from '@xterm/headless';
import { innerOf } from '../../pty/screen/internals.ts';
import { printableTitle } from '../../pty/screen/repaint.ts';
import { createEmulator } from '../../pty/transcript/emulator.ts';
import type { Display, Screen } from './display.ts';
import { FrameMaker, type Part, plain } from './frame.ts';
import { MouseReports } from './mouseReports.ts';
import { Painter, stretch } from './painter.ts';
import type { ViewerTerminal } from './viewerTerminal.ts';

/** Between two frames: thirty a second. */
const frameMs = 33;
/** What comes in several pieces is painted at once. */
const gatherMs = 4;
/** A program that holds back its output (2026) and never ends that would be seen no more. */
const heldMs = 200;
/** Not yet rendered, before its holder is made to wait: it notices, and sends a fresh screen later. */
const pendingMaxBytes = 256 * 1024;

export interface WindowOptions {
  readonly terminal: ViewerTerminal;
  readonly sessionId: string;
  readonly wayOut: string | undefined;
  /** What a terminal answers to a question of the program. */
  readonly answer: (bytes: Buffer) => void;
}

export class Window implements Display {
  readonly #options: WindowOptions;
  readonly #painter = new Painter();
  readonly #mouse = new MouseReports();
  #emulator!: headless.Terminal;
  #frames!: FrameMaker;
  #part: Part = { x: 0, y: 0, cols: 0, rows: 0 };
  #pendingBytes = 0;
  #waiters: (() => void)[] = [];
  #isReady = false;
  #isBlocked = false;
  #timer: NodeJS.Timeout | undefined;
  #paintedMs = 0;
  #heldSinceMs: number | undefined;
  /** For the next frame. */
  #title: string | undefined;
  #hasRung = false;

  constructor(options: WindowOptions) {
    this.#options = options;
    options.terminal.openWindow();
  }

  begin({ cols, rows, repaint }: Screen): void {
    this.#drop();
    const emulator = createEmulator({ cols, rows, scrollback: 0 });
    this.#emulator = emulator;
    this.#frames = new FrameMaker(emulator, this.#options);
    this.#painter.forget();
    emulator.onTitleChange((title) => {
      this.#title = title;
    });
    emulator.write(repaint, () => {
      if (emulator !== this.#emulator) return;
      emulator.onData((answer) => this.#options.answer(Buffer.from(answer)));
      emulator.onBell(() => {
        this.#hasRung = true;
      });
      this.#isReady = true;
      this.#changed();
    });
  }

  output(bytes: Buffer): Promise<void> | undefined {
    const emulator = this.#emulator;
    this.#pendingBytes += bytes.length;
    emulator.write(bytes, () => {
      if (emulator !== this.#emulator) return;
      this.#pendingBytes -= bytes.length;
      if (this.#pendingBytes <= pendingMaxBytes) this.#wake();
      this.#changed();
    });
    if (this.#pendingBytes <= pendingMaxBytes) return undefined;
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  typed(bytes: Buffer): Buffer {
    const { activeEncoding } = innerOf(this.#emulator).coreMouseService;
    return this.#mouse.translate(bytes, this.#part, activeEncoding === 'SGR');
  }

  resized(): void {
    this.#painter.forget();
    this.#changed();
  }

  async shown(): Promise<void> {
    const emulator = this.#emulator;
    await new Promise<void>((resolve) => emulator.write('', resolve));
    await this.#options.terminal.drained();
    this.#paint();
  }

  /** The window takes the place of what was there before, and that comes back: so it is said below it once more. */
  finish(): void {
    const { terminal } = this.#options;
    const { normal } = this.#emulator.buffer;
    const { cols, rows } = this.#emulator;
    const to = Math.min(cols, terminal.size.cols);
    const lines = Array.from({ length: rows }, (_, row) =>
      this.#frames.cells(normal, { row: normal.baseY + row, from: 0, to }),
    );
    const last = lines.findLastIndex(({ texts, styles }) =>
      texts.some((text, at) => text !== ' ' || styles[at] !== plain),
    );
    terminal.closeWindow(lines.slice(0, last + 1).map((line) => stretch(line, 0, to)));
  }

  close(): void {
    this.#drop();
  }

  #drop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isReady = false;
    this.#pendingBytes = 0;
    // A terminal that is thrown away in the middle of a write never says that it is done.
    this.#wake();
    this.#emulator?.dispose();
  }

  #wake(): void {
    for (const waiter of this.#waiters.splice(0)) waiter();
  }

  #changed(): void {
    if (this.#timer !== undefined || this.#isBlocked || !this.#isReady) return;
    const waitMs = Math.max(gatherMs, this.#paintedMs + frameMs - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#isHeldBack()) this.#changed();
      else this.#paint();
    }, waitMs);
  }

  #isHeldBack(): boolean {
    if (!this.#emulator.modes.synchronizedOutputMode) {
      this.#heldSinceMs = undefined;
      return false;
    }
    this.#heldSinceMs ??= performance.now();
    return performance.now() - this.#heldSinceMs < heldMs;
  }

  /** One that the terminal has not taken is followed by how things are then, whatever came between. */
  #paint(): void {
    const { terminal } = this.#options;
    const frame = this.#frames.frame(terminal.size);
    this.#part = frame.part;
    this.#paintedMs = performance.now();
    const title = this.#title === undefined ? '' : `\x1b]2;${printableTitle(this.#title)}\x07`;
    const text = `${title}${this.#hasRung ? '\x07' : ''}${this.#painter.paint(frame, this.#emulator)}`;
    this.#title = undefined;
    this.#hasRung = false;
    if (text === '' || terminal.write(Buffer.from(text))) return;
    this.#isBlocked = true;
    void terminal.drained().then(() => {
      this.#isBlocked = false;
      this.#changed();
    });
  }
}
