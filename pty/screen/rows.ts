/**
 * The rows of a buffer as what has to be printed on an empty screen to have them again: cells, colours of empty cells, and
 * which row is the continuation of the one above (a later change of size folds such rows together).
 */
import type headless from '@xterm/headless';
import { attributesKey, backgroundColor, backgroundOf, hyperlink, sgr, urlId } from './attributes.ts';
import { type Cell, type Inner, innerOf } from './internals.ts';

export class RowPrinter {
  readonly #buffer: headless.IBuffer;
  readonly #inner: Inner;
  readonly #cols: number;
  readonly #rows: number;
  /** Cells are read into these; looking at a neighbour must not change the one at hand. */
  readonly #cell: Cell;
  readonly #other: Cell;
  #style = '0,0';
  #url = 0;
  /** A row that the terminal opened by wrapping is filled with whatever colour was selected then. */
  #isDirty = false;
  #text: string[] = [];

  constructor(terminal: headless.Terminal, buffer: headless.IBuffer) {
    this.#buffer = buffer;
    this.#inner = innerOf(terminal);
    this.#cols = terminal.cols;
    this.#rows = terminal.rows;
    this.#cell = buffer.getNullCell() as Cell;
    this.#other = buffer.getNullCell() as Cell;
  }

  /** Prints [from, to) from the top left corner of an empty screen; the cursor ends somewhere in the last row. */
  print(from: number, to: number): string {
    for (let row = from; row < to; row += 1) {
      const isContinued = row > from && this.#buffer.getLine(row)?.isWrapped === true;
      const wraps = isContinued && this.#wrapsBySelf(row);
      if (row > from && !wraps) this.#text.push(this.#plain(), '\r\n');
      if (isContinued && !wraps && this.#rows > 1) this.#forceWrap(row);
      this.#row(row, wraps);
    }
    this.#text.push(this.#plain());
    return this.#text.splice(0).join('');
  }

  /** Printing this row right after a full one lets the terminal wrap as it once did. */
  #wrapsBySelf(row: number): boolean {
    const before = this.#buffer.getLine(row - 1)?.getCell(this.#cols - 1, this.#other);
    const isFull = before !== undefined && (before.getChars() !== '' || before.getWidth() === 0);
    return isFull && this.#buffer.getLine(row)?.getCell(0, this.#other)?.getChars() !== '';
  }

  /**
   * Marks this row as a continuation although nothing flows over into it: wraps a blank from the last column of the row
   * above, then repairs both. The cursor is at the start of this row, before and after.
   */
  #forceWrap(row: number): void {
    const width =
      this.#buffer
        .getLine(row - 1)
        ?.getCell(this.#cols - 1, this.#other)
        ?.getWidth() ?? 1;
    const column = width === 0 ? this.#cols - 1 : this.#cols;
    this.#text.push(`\x1b[A\x1b[${column}G`);
    this.#cells(row - 1, column - 1, this.#cols);
    // An empty last cell cannot be written, so it is written as a blank and erased again.
    this.#text.push(this.#plain(), this.#isEmpty(row - 1) ? ' ' : '', ' ');
    this.#text.push(`\x1b[A\x1b[${this.#cols}G`);
    if (this.#isEmpty(row - 1)) this.#erase(this.#cols - 1, 1, row - 1);
    // A line feed would end the continuation again.
    this.#text.push(this.#plain(), '\x1b[B\r\x1b[X');
  }

  #isEmpty(row: number): boolean {
    const cell = this.#buffer.getLine(row)?.getCell(this.#cols - 1, this.#other);
    return cell === undefined || (cell.getChars() === '' && cell.getWidth() !== 0);
  }

  #row(row: number, wraps: boolean): void {
    this.#isDirty = wraps;
    this.#cells(row, 0, this.#cols);
    this.#isDirty = false;
  }

  /** Prints the cells of [from, to), the cursor being at the first. */
  #cells(row: number, from: number, to: number): void {
    const line = this.#buffer.getLine(row);
    let empty = from;
    let column = from;
    while (column < to) {
      const cell = line?.getCell(column, this.#cell) as Cell | undefined;
      const chars = cell?.getChars() ?? '';
      if (cell !== undefined && chars !== '') {
        this.#skip(row, empty, column);
        this.#select(cell);
        this.#text.push(chars);
        empty = column + cell.getWidth();
      }
      column += Math.max(1, cell?.getWidth() ?? 1);
    }
    this.#paintEmpty(row, empty, to);
  }

  /** Goes over empty cells to the next full one. */
  #skip(row: number, from: number, to: number): void {
    if (to <= from) return;
    this.#paintEmpty(row, from, to);
    this.#text.push(`\x1b[${to + 1}G`);
  }

  /** Gives empty cells their background. */
  #paintEmpty(row: number, from: number, to: number): void {
    const line = this.#buffer.getLine(row);
    for (let start = from; start < to; ) {
      const color = this.#backgroundAt(line, start);
      let end = start + 1;
      while (end < to && this.#backgroundAt(line, end) === color) end += 1;
      if (color !== 0 || this.#isDirty) this.#erase(start, end - start, row);
      start = end;
    }
  }

  #backgroundAt(line: headless.IBufferLine | undefined, column: number): number {
    const cell = line?.getCell(column, this.#other) as Cell | undefined;
    return backgroundColor(cell?.bg ?? 0);
  }

  #erase(column: number, count: number, row: number): void {
    const color = this.#backgroundAt(this.#buffer.getLine(row), column);
    this.#style = `erase ${color}`;
    this.#text.push(`${backgroundOf(color)}\x1b[${column + 1}G\x1b[${count}X`);
  }

  #select(cell: Cell): void {
    if (urlId(cell) !== this.#url) {
      this.#url = urlId(cell);
      this.#text.push(hyperlink(cell, this.#inner));
    }
    const key = attributesKey(cell);
    if (key === this.#style) return;
    this.#style = key;
    this.#text.push(sgr(cell));
  }

  /** Back to no attributes, so that a new row is empty in no colour. */
  #plain(): string {
    const link = this.#url === 0 ? '' : '\x1b]8;;\x1b\\';
    const style = this.#style === '0,0' ? '' : '\x1b[m';
    this.#url = 0;
    this.#style = '0,0';
    return link + style;
  }
}
