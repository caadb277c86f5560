/**
 * What a window of one size shows of a session of another: its cells from the part where the cursor is, dots where the
 * session has nothing, and a line that says so where there is room for it.
 */
import type headless from '@xterm/headless';
import { attributesKey, hyperlink, sgr, urlId } from '../../pty/screen/attributes.ts';
import { type Cell, innerOf } from '../../pty/screen/internals.ts';
import type { Size } from './viewerTerminal.ts';

/** By column: what stands there, empty behind a wide character; and the sequences that select its look. */
export interface Row {
  readonly texts: readonly string[];
  readonly styles: readonly string[];
}

export interface Frame {
  readonly rows: readonly Row[];
  /** In the window, counted from 0. */
  readonly cursor: { readonly x: number; readonly y: number; readonly isVisible: boolean };
  /** Of the session's screen in the window; its top left corner there is always the window's. */
  readonly part: Part;
}

/** A rectangle of the session's screen. */
export interface Part extends Size {
  readonly x: number;
  readonly y: number;
}

export const plain = '\x1b[m';
const outside = '\x1b[0;2m';
const status = '\x1b[0;7m';

/** More looks than this in one session are colours that change all the time. */
const maxStyles = 4096;

/** No session is larger; a terminal that says it were may be anything, and every cell of it would be made. */
const largest = 1_000;

/** In the status line. */
export interface Said {
  readonly sessionId: string;
  readonly wayOut: string | undefined;
}

export class FrameMaker {
  readonly #terminal: headless.Terminal;
  readonly #said: Said;
  readonly #styles = new Map<string, string>();
  #last: { readonly type: string; readonly x: number; readonly y: number } | undefined;

  constructor(terminal: headless.Terminal, said: Said) {
    this.#terminal = terminal;
    this.#said = said;
  }

  frame({ cols, rows: height }: Size): Frame {
    const window = { cols: Math.min(cols, largest), rows: Math.min(height, largest) };
    const room = roomIn(window, this.#terminal);
    const part = this.#part(room);
    const rows = Array.from({ length: room.rows }, (_, y) =>
      y < part.rows
        ? this.#row(part, { y, cols: room.cols })
        : rowOf('', { cols: room.cols, fill: '·', style: outside }),
    );
    if (room.rows < window.rows) rows.push(this.#status(window));
    const { cursorX, cursorY } = this.#terminal.buffer.active;
    const x = Math.min(cursorX, this.#terminal.cols - 1) - part.x;
    const y = cursorY - part.y;
    const isInside = x >= 0 && x < part.cols && y >= 0 && y < part.rows;
    const isVisible = isInside && !innerOf(this.#terminal).coreService.isCursorHidden;
    return { rows, part, cursor: isInside ? { x, y, isVisible } : { x: 0, y: 0, isVisible } };
  }

  /** A program that hides the cursor and has the whole screen to itself puts it anywhere; it is followed in all others. */
  #part(room: Size): Part {
    const { cols, rows, buffer } = this.#terminal;
    const { type, cursorX, cursorY } = buffer.active;
    const isFollowed = type === 'normal' || !innerOf(this.#terminal).coreService.isCursorHidden;
    const { x, y } = this.#last?.type === type ? this.#last : { x: 0, y: 0 };
    const visible = { cols: Math.min(cols, room.cols), rows: Math.min(rows, room.rows) };
    const part = {
      ...visible,
      x: isFollowed
        ? follow(Math.min(cursorX, cols - 1), { room: visible.cols, all: cols })
        : Math.min(x, cols - visible.cols),
      y: isFollowed ? follow(cursorY, { room: visible.rows, all: rows }) : Math.min(y, rows - visible.rows),
    };
    this.#last = { type, x: part.x, y: part.y };
    return part;
  }

  #row(part: Part, { y, cols }: { readonly y: number; readonly cols: number }): Row {
    const { active } = this.#terminal.buffer;
    const cells = this.cells(active, { row: active.baseY + part.y + y, from: part.x, to: part.x + part.cols });
    const rest = rowOf('', { cols: cols - part.cols, fill: '·', style: outside });
    return { texts: [...cells.texts, ...rest.texts], styles: [...cells.styles, ...rest.styles] };
  }

  /** Half a wide character cannot be shown, so a blank stands for it. */
  cells(
    buffer: headless.IBuffer,
    { row, from, to }: { readonly row: number; readonly from: number; readonly to: number },
  ): Row {
    const line = buffer.getLine(row);
    const cell = buffer.getNullCell() as Cell;
    const texts: string[] = [];
    const styles: string[] = [];
    for (let column = from; column < to; ) {
      line?.getCell(column, cell);
      // What only joins another character may stand alone, and would join whatever is printed before it.
      const chars = cell.getWidth() === 0 && cell.getChars() !== '' ? ` ${cell.getChars()}` : cell.getChars();
      const width = chars === '' ? 1 : Math.max(1, cell.getWidth());
      const style = this.#style(cell);
      const isCut = column + width > to;
      for (let at = column; at < Math.min(column + width, to); at += 1) {
        texts.push(isCut || chars === '' ? ' ' : at === column ? chars : '');
        styles.push(style);
      }
      column += width;
    }
    return { texts, styles };
  }

  #style(cell: Cell): string {
    const key = attributesKey(cell);
    let style = this.#styles.get(key);
    if (style === undefined) {
      style = `${urlId(cell) === 0 ? '' : hyperlink(cell, innerOf(this.#terminal))}${sgr(cell)}`;
      if (this.#styles.size >= maxStyles) this.#styles.clear();
      this.#styles.set(key, style);
    }
    return style;
  }

  #status({ cols, rows }: Size): Row {
    const { sessionId, wayOut } = this.#said;
    const sizes = `${this.#terminal.cols}x${this.#terminal.rows} in ${cols}x${rows}`;
    const texts = [sessionId, sizes, ...(wayOut === undefined ? [] : [wayOut])];
    // How to get out of it goes last.
    while (texts.length > 1 && texts.join('  ').length + 2 > cols) texts.shift();
    return rowOf(` ${texts.join('  ')}`.slice(0, cols), { cols, fill: ' ', style: status });
  }
}

/**
 * The window without the row of the status line. That one takes no row of a session that would fit without it, and none of
 * a window that has hardly any.
 */
function roomIn({ cols, rows }: Size, session: Size): Size {
  const isSpare = rows > session.rows || (rows < session.rows && rows > 3);
  return { cols, rows: isSpare ? rows - 1 : rows };
}

/** Where the visible part begins, in steps of half of it, so that not every key moves everything. */
function follow(cursor: number, { room, all }: { readonly room: number; readonly all: number }): number {
  if (cursor < room) return 0;
  const step = Math.max(1, Math.floor(room / 2));
  return Math.min(all - room, Math.ceil((cursor - room + 1) / step) * step);
}

function rowOf(
  text: string,
  { cols, fill, style }: { readonly cols: number; readonly fill: string; readonly style: string },
): Row {
  const texts = Array.from({ length: cols }, (_, column) => text[column] ?? fill);
  return { texts, styles: texts.map(() => style) };
}
