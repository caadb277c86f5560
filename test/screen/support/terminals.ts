import type headless from '@xterm/headless';
import { backgroundOf, hyperlink, sgr, sgrOfNext } from '../../../pty/screen/attributes.ts';
import { type Cell, charsetNames, type Inner, type InnerBuffer, innerOf } from '../../../pty/screen/internals.ts';
import { repaint } from '../../../pty/screen/repaint.ts';
import { createEmulator, keyboardOf } from '../../../pty/transcript/emulator.ts';

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

export function terminalOf(size: Size, scrollback = 200): headless.Terminal {
  return createEmulator({ ...size, scrollback });
}

export function feed(terminal: headless.Terminal, bytes: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => terminal.write(bytes, resolve));
}

export async function repaintOf(terminal: headless.Terminal, unfinished: Uint8Array = Buffer.alloc(0)) {
  const charsets = await charsetNames();
  return repaint(terminal, { charsets, title: undefined, historyRows: 1_000, unfinished });
}

/** Everything that somebody could see or run into, as lines that a failing test can show side by side. */
export function portrait(terminal: headless.Terminal): string[] {
  const inner = innerOf(terminal);
  const next = inner._inputHandler._curAttrData;
  const { active, normal, alternate } = terminal.buffer;
  const { glevel, charset, _charsets } = inner._charsetService;
  const names = [charset, ..._charsets].map((set) =>
    set === undefined ? '-' : Object.values(set).join('').slice(0, 3),
  );
  const lines = [
    `size ${terminal.cols}x${terminal.rows} ${active.type} cursor ${active.cursorX},${active.cursorY} base ${normal.baseY}`,
    `modes ${JSON.stringify({ ...terminal.modes, synchronizedOutputMode: false })}`,
    `keyboard ${show(keyboardOf(terminal).stack('normal'))} ${show(keyboardOf(terminal).modifyOtherKeys)}`,
    `cursor ${inner.coreService.isCursorHidden} ${JSON.stringify(inner.coreService.decPrivateModes)}`,
    `mouse ${inner.coreMouseService.activeEncoding} charset ${glevel} ${names[0]}`,
    `next ${show(sgrOfNext(next) + hyperlink(next, inner))} preceding ${inner._inputHandler._parser.precedingJoinState}`,
    bufferState('normal', inner.buffers.normal, terminal),
    ...cellsOf(terminal, normal),
  ];
  if (active.type === 'alternate') {
    lines.push(show(keyboardOf(terminal).stack('alternate')));
    lines.push(bufferState('alternate', inner.buffers.alt, terminal), ...cellsOf(terminal, alternate));
  }
  return lines;
}

function bufferState(name: string, buffer: InnerBuffer, { cols, rows }: Size): string {
  const stops = Array.from({ length: cols }, (_, column) => (buffer.tabs[column] ? column : ''))
    .join(' ')
    .trim();
  const saved = `${Math.min(buffer.savedX, cols - 1)},${Math.min(rows - 1, Math.max(0, buffer.savedY - buffer.ybase))}`;
  const style = show(sgr(buffer.savedCurAttrData));
  return `${name} margins ${buffer.scrollTop},${buffer.scrollBottom} saved ${saved} ${style} tabs ${stops}`;
}

function cellsOf(terminal: headless.Terminal, buffer: headless.IBuffer): string[] {
  return Array.from({ length: buffer.length }, (_, row) => {
    const line = buffer.getLine(row)!;
    const cells: string[] = [];
    let last = '';
    for (let column = 0; column < terminal.cols; column += 1) {
      const cell = line.getCell(column) as Cell;
      const chars = cell.getChars();
      // Of an empty cell only the background can be seen.
      const style = chars === '' ? backgroundOf(cell.bg) : lookOf(innerOf(terminal), cell);
      cells.push(
        style === last ? '' : `{${show(style)}}`,
        chars === '' ? (cell.getWidth() === 0 ? '' : '\u00b7') : chars,
      );
      last = style;
    }
    return `${row}${row > 0 && line.isWrapped ? '+' : ':'} ${cells.join('')}`;
  });
}

/** As sequences: links have numbers that differ from terminal to terminal, and colours have bits that mean nothing. */
function lookOf(inner: Inner, cell: Cell): string {
  return sgr(cell) + hyperlink(cell, inner);
}

function show(sequences: string): string {
  return sequences.replaceAll('\x1b', '').replaceAll('[', '');
}
