/**
 * A screen as bytes that make a freshly reset terminal of the same size show it and go on from it: the history, both
 * buffers, margins, tab stops, the saved cursor, character sets, modes, title, and a sequence or character that had only
 * begun. The serializer that comes with the terminal leaves out most of what is not a cell, and misplaces the cursor in
 * origin mode and at the right margin.
 */
import type headless from '@xterm/headless';
import { keyboardOf } from '../transcript/emulator.ts';
import { hyperlink, sgr, sgrOfNext } from './attributes.ts';
import { type Cell, type Charset, type Inner, type InnerBuffer, innerOf } from './internals.ts';
import { RowPrinter } from './rows.ts';

export interface RepaintOptions {
  readonly charsets: ReadonlyMap<Charset, string>;
  readonly title: string | undefined;
  /** Rows of the history above the screen, at most. */
  readonly historyRows: number;
  /** Bytes that the parser holds and has not acted on. */
  readonly unfinished: Uint8Array;
}

export function repaint(terminal: headless.Terminal, options: RepaintOptions): Uint8Array {
  const inner = innerOf(terminal);
  const { normal, alternate, active } = terminal.buffer;
  const keyboard = keyboardOf(terminal);
  const printed = new RowPrinter(terminal, normal).print(
    Math.max(0, normal.baseY - options.historyRows),
    normal.length,
  );
  const parts = [
    printed,
    tabStops(inner.buffers.normal, terminal.cols),
    saved(inner.buffers.normal, options),
    keyboard.stack('normal'),
  ];
  if (active.type === 'alternate') {
    parts.push(region(inner.buffers.normal, terminal.rows), '\x1b[m\x1b[?1047h\x1b[H\x1b[2J');
    parts.push(new RowPrinter(terminal, alternate).print(alternate.baseY, alternate.length));
    parts.push(tabStops(inner.buffers.alt, terminal.cols), saved(inner.buffers.alt, options));
    parts.push(keyboard.stack('alternate'));
  }
  parts.push(region(inner.buffers.active, terminal.rows));
  if (options.title !== undefined) parts.push(`\x1b]2;${printableTitle(options.title)}\x07`);
  parts.push(modes(terminal, inner), keyboard.modifyOtherKeys, cursor(terminal, inner, options));
  return Buffer.concat([Buffer.from(parts.join('')), options.unfinished]);
}

/** Only where they differ from one every eight columns. */
function tabStops(buffer: InnerBuffer, cols: number): string {
  const stops = Array.from({ length: cols }, (_, column) => column).filter((column) => buffer.tabs[column] === true);
  const usual = Array.from({ length: Math.ceil(cols / 8) }, (_, stop) => stop * 8);
  if (stops.join() === usual.join()) return '';
  return `\x1b[3g${stops.map((column) => `\x1b[${column + 1}G\x1bH`).join('')}`;
}

function saved(buffer: InnerBuffer, { charsets }: RepaintOptions): string {
  const { savedX, savedY, savedCurAttrData: attributes, savedCharset } = buffer;
  const row = Math.max(0, savedY - buffer.ybase);
  const isUntouched = savedX === 0 && row === 0 && attributes.fg === 0 && attributes.bg === 0;
  if (isUntouched && savedCharset === undefined) return '';
  const charset = `\x1b(${charsets.get(savedCharset) ?? 'B'}`;
  return `\x1b[${row + 1};${savedX + 1}H${sgr(attributes)}${charset}\x1b7\x1b(B\x1b[m`;
}

function region({ scrollTop, scrollBottom }: InnerBuffer, rows: number): string {
  return scrollTop === 0 && scrollBottom === rows - 1 ? '' : `\x1b[${scrollTop + 1};${scrollBottom + 1}r`;
}

const mouse = { none: '', x10: '\x1b[?9h', vt200: '\x1b[?1000h', drag: '\x1b[?1002h', any: '\x1b[?1003h' } as const;
const mouseEncodings: Readonly<Record<string, string>> = { SGR: '\x1b[?1006h', SGR_PIXELS: '\x1b[?1016h' };
const cursorStyles: Readonly<Record<string, number>> = { block: 1, underline: 3, bar: 5 };

/** All but insert mode, which would get in the way of what is still to be printed. */
function modes(terminal: headless.Terminal, inner: Inner): string {
  const on = terminal.modes;
  const { cursorStyle, cursorBlink } = inner.coreService.decPrivateModes;
  return [
    on.applicationCursorKeysMode ? '\x1b[?1h' : '',
    on.applicationKeypadMode ? '\x1b=' : '',
    on.bracketedPasteMode ? '\x1b[?2004h' : '',
    on.originMode ? '\x1b[?6h' : '',
    on.reverseWraparoundMode ? '\x1b[?45h' : '',
    on.sendFocusMode ? '\x1b[?1004h' : '',
    on.wraparoundMode ? '' : '\x1b[?7l',
    mouse[on.mouseTrackingMode],
    mouseEncodings[inner.coreMouseService.activeEncoding] ?? '',
    terminal.options.cursorBlink === true ? '\x1b[?12h' : '',
    cursorStyle === undefined ? '' : `\x1b[${(cursorStyles[cursorStyle] ?? 1) + (cursorBlink === false ? 1 : 0)} q`,
    inner.coreService.isCursorHidden ? '\x1b[?25l' : '',
  ].join('');
}

/**
 * Position, attributes and character sets of what comes next. A cursor past the last column got there by printing, and a
 * combining character or a repetition needs the character before it: that one is printed once more.
 */
function cursor(terminal: headless.Terminal, inner: Inner, { charsets }: RepaintOptions): string {
  const { x, y, ybase } = inner.buffers.active;
  const { _curAttrData: attributes, _parser: parser } = inner._inputHandler;
  const state = parser.precedingJoinState;
  const line = terminal.buffer.active.getLine(ybase + y);
  const isInserting = terminal.modes.insertMode;
  const width = state === 0 ? (line?.getCell(x - 1)?.getWidth() === 0 ? 2 : 1) : (state >> 1) & 3;
  const before = line?.getCell(x - width) as Cell | undefined;
  const chars = before?.getChars() ?? '';
  const isPast = x >= terminal.cols;
  const select = `${hyperlink(attributes, inner)}${sgrOfNext(attributes)}`;
  const finish = `${charsetState(inner, charsets)}${isInserting ? '\x1b[4h' : ''}`;
  // Without wrapping, a wide character that found no room has left nothing behind.
  const isThere = before !== undefined && chars !== '' && x >= width && before.getWidth() === width;
  const again = isThere && (isPast || state !== 0);
  if (!again) return `${select}${finish}${goto(terminal, inner, Math.min(x, terminal.cols - 1))}`;
  const back = goto(terminal, inner, x - width);
  // Selecting anything would make the terminal forget the character, so it comes last, unless it was forgotten anyway.
  if (state !== 0) return `${select}${finish}${back}${isInserting ? `\x1b[${width}P` : ''}${chars}`;
  return `${hyperlink(before, inner)}${back}${sgr(before)}${chars}${select}${finish}`;
}

/** Rows count from the margin in origin mode. */
function goto(terminal: headless.Terminal, inner: Inner, column: number): string {
  const { y, scrollTop } = inner.buffers.active;
  const row = terminal.modes.originMode ? y - scrollTop : y;
  return `\x1b[${Math.max(0, row) + 1};${column + 1}H`;
}

const designators = '()*+';
const shifts = ['\x0f', '\x0e', '\x1bn', '\x1bo'];

function charsetState({ _charsetService: service }: Inner, charsets: ReadonlyMap<Charset, string>): string {
  const sets = [0, 1, 2, 3].map((level) => (level === service.glevel ? service.charset : service._charsets[level]));
  const designations = sets.map((set, level) =>
    set === undefined ? '' : `\x1b${designators[level]}${charsets.get(set) ?? 'B'}`,
  );
  return `${designations.join('')}${service.glevel === 0 ? '' : shifts[service.glevel]}`;
}

/** A title may hold anything but what ends it. */
export function printableTitle(title: string): string {
  return [...title].filter((char) => char >= ' ' && char !== '\x7f' && !(char >= '\x80' && char <= '\x9f')).join('');
}
