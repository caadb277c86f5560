/**
 * A transcript as text, as somebody would have read it: rendered by a terminal, so that a line which a progress bar wrote
 * a hundred times is one line. It holds every line that scrolled off the top and, at the end, what the screen shows.
 * The alternate screen has no history and is left out: what an editor or a pager drew there never scrolled by. What was
 * erased before it scrolled off is gone, but for a whole screen, which counts as scrolled off.
 */
import type headless from '@xterm/headless';
import { atLeastTwo, createEmulator, written } from './emulator.ts';
import type { TranscriptSummary } from './reader.ts';
import { timeline } from './timeline.ts';

/** Lines are taken off the history when it is half full, so none is pushed out unseen. */
const scrollback = 1_000;

/** Lines with their line ends, trailing blanks and the blank rest of the screen cut off. Memory stays bounded. */
export async function* plainText(summary: TranscriptSummary): AsyncGenerator<string, void, undefined> {
  const { cols, rows } = summary.header;
  const terminal = createEmulator({ cols, rows, scrollback, keepsErased: true });
  const lines = new ScrolledLines(terminal);
  try {
    for await (const moment of timeline(summary)) {
      if (moment.kind === 'resize') resizeTo(terminal, moment);
      if (moment.kind === 'missing') yield `[${moment.bytes} bytes missing: ${moment.reason}]\n`;
      if (moment.kind !== 'bytes') continue;
      await written(terminal, moment.bytes);
      yield* lines.scrolled();
    }
    yield* lines.rest();
  } finally {
    terminal.dispose();
  }
}

function resizeTo(terminal: headless.Terminal, size: { readonly cols: number; readonly rows: number }): void {
  const { cols, rows } = atLeastTwo(size.cols, size.rows);
  terminal.resize(cols, rows);
}

/** Takes lines out of a terminal as they leave its screen. */
class ScrolledLines {
  readonly #terminal: headless.Terminal;
  /** Sits on the first line that nobody has taken; it moves with the lines. */
  #next: headless.IMarker | undefined;
  #scrolls = 0;
  /** The beginning of a line whose continuation is still on the screen. */
  #open = '';
  #lines: string[] = [];

  constructor(terminal: headless.Terminal) {
    this.#terminal = terminal;
    // A few bytes can repeat a character over many lines, so it is lines that are counted, not bytes.
    terminal.onScroll(() => {
      this.#scrolls += 1;
      if (this.#scrolls >= scrollback / 2) this.#takeScrolled();
    });
    // A program that clears the history of its terminal does not thereby unwrite what scrolled by.
    terminal.parser.registerCsiHandler({ final: 'J' }, ([what]) => what === 3);
  }

  /** What has left the screen since the last call. */
  scrolled(): string[] {
    this.#takeScrolled();
    return this.#lines.splice(0);
  }

  /** Everything that nobody has taken, the screen included. */
  rest(): string[] {
    const { normal } = this.#terminal.buffer;
    let end = normal.length;
    while (end > normal.baseY && normal.getLine(end - 1)?.translateToString(true) === '') end -= 1;
    this.#take(end);
    if (this.#open !== '') this.#close();
    return this.#lines.splice(0);
  }

  #takeScrolled(): void {
    this.#scrolls = 0;
    const { active, normal } = this.#terminal.buffer;
    if (active.type !== 'normal') return;
    this.#take(normal.baseY);
    this.#next?.dispose();
    this.#next = this.#terminal.registerMarker(-normal.cursorY);
  }

  #take(end: number): void {
    const { normal } = this.#terminal.buffer;
    // A reset of the terminal takes its history with it, and the marker too.
    const start = this.#next === undefined || this.#next.isDisposed ? 0 : this.#next.line;
    for (let row = start; row < end; row += 1) {
      const isContinued = normal.getLine(row + 1)?.isWrapped === true;
      this.#open += normal.getLine(row)?.translateToString(!isContinued) ?? '';
      if (!isContinued) this.#close();
    }
  }

  #close(): void {
    this.#lines.push(`${this.#open.trimEnd()}\n`);
    this.#open = '';
  }
}
