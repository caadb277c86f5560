/**
 * Brings a terminal from one frame to the next: what has changed, the cursor, and what the program wants of the keyboard.
 * It begins on an empty screen in a terminal with nothing switched on.
 */
import type headless from '@xterm/headless';
import { type Inner, innerOf } from '../../pty/screen/internals.ts';
import { keyboardOf } from '../../pty/transcript/emulator.ts';
import { type Frame, plain, type Row } from './frame.ts';

interface Switch {
  readonly on: string;
  readonly off: string;
  readonly isOn: (modes: headless.IModes, inner: Inner) => boolean;
}

const mode = (number: number, isOn: Switch['isOn']): Switch => ({
  on: `\x1b[?${number}h`,
  off: `\x1b[?${number}l`,
  isOn,
});

/** Pixels are not asked for: where in the session one is cannot be told. */
const isMouse = ({ mouseTrackingMode }: headless.IModes, { coreMouseService }: Inner): boolean =>
  mouseTrackingMode !== 'none' && coreMouseService.activeEncoding !== 'SGR_PIXELS';
const tracking = (number: number, name: headless.IModes['mouseTrackingMode']): Switch =>
  mode(number, (modes, inner) => modes.mouseTrackingMode === name && isMouse(modes, inner));

const switches: readonly Switch[] = [
  mode(1, (modes) => modes.applicationCursorKeysMode),
  { on: '\x1b=', off: '\x1b>', isOn: (modes) => modes.applicationKeypadMode },
  mode(2004, (modes) => modes.bracketedPasteMode),
  mode(1004, (modes) => modes.sendFocusMode),
  tracking(9, 'x10'),
  tracking(1000, 'vt200'),
  tracking(1002, 'drag'),
  tracking(1003, 'any'),
  // The only form in which a position can be found and moved; the program gets the one that it wants.
  mode(1006, isMouse),
];

const cursorStyles: Readonly<Record<string, number>> = { block: 1, underline: 3, bar: 5 };

export class Painter {
  #rows: readonly Row[] = [];
  #on: ReadonlySet<Switch> = new Set();
  #cursorStyle = '\x1b[0 q';
  #keyboard = '';
  #cursor = '';
  #isCursorVisible = true;

  /** The terminal shows something else by now; what is switched on stays known. */
  forget(): void {
    this.#rows = [];
    this.#cursor = '';
  }

  /** Empty when the terminal shows it already. */
  paint(frame: Frame, terminal: headless.Terminal): string {
    const rows = frame.rows.map((row, y) => changes(y, row, this.#rows[y])).join('');
    this.#rows = frame.rows;
    const { x, y, isVisible } = frame.cursor;
    const place = `\x1b[${y + 1};${x + 1}H`;
    const modes = this.#modes(terminal);
    const isShownAlready = rows === '' && place === this.#cursor && isVisible === this.#isCursorVisible;
    this.#cursor = place;
    if (isShownAlready && modes === '') return '';
    // Held back while it is incomplete (2026), and where a terminal does not know that, at least the cursor does not hop.
    const hide = this.#isCursorVisible && (rows !== '' || !isVisible) ? '\x1b[?25l' : '';
    const show = isVisible && (hide !== '' || !this.#isCursorVisible) ? '\x1b[?25h' : '';
    this.#isCursorVisible = isVisible;
    return `\x1b[?2026h${hide}${rows}${modes}${place}${show}\x1b[?2026l`;
  }

  #modes(terminal: headless.Terminal): string {
    const inner = innerOf(terminal);
    const wanted = switches.filter(({ isOn }) => isOn(terminal.modes, inner));
    // Whatever ends one way of reporting the mouse ends all of them, so that comes first.
    const off = switches.filter((one) => this.#on.has(one) && !wanted.includes(one));
    const on = wanted.filter((one) => !this.#on.has(one));
    this.#on = new Set(wanted);
    let text = [...off.map((one) => one.off), ...on.map((one) => one.on)].join('');
    const { cursorStyle, cursorBlink } = inner.coreService.decPrivateModes;
    const number = cursorStyle === undefined ? 0 : (cursorStyles[cursorStyle] ?? 1) + (cursorBlink === false ? 1 : 0);
    const style = `\x1b[${number} q`;
    if (style !== this.#cursorStyle) text += style;
    this.#cursorStyle = style;
    const { current: keyboard, isPlain } = keyboardOf(terminal);
    // A terminal that was never told anything is told nothing.
    if (keyboard !== this.#keyboard && !(isPlain && this.#keyboard === '')) {
      text += keyboard;
      this.#keyboard = keyboard;
    }
    return text;
  }
}

/** One stretch of a row, from its first cell that differs to its last. */
function changes(y: number, row: Row, shown: Row | undefined): string {
  const cols = row.texts.length;
  let from = 0;
  let to = cols;
  // Both halves of a wide character change together, so none is left over.
  if (shown !== undefined && shown.texts.length === cols) {
    while (from < cols && isSame(row, shown, from)) from += 1;
    if (from === cols) return '';
    while (isSame(row, shown, to - 1)) to -= 1;
  }
  return `\x1b[${y + 1};${from + 1}H${stretch(row, from, to)}`;
}

const isSame = (row: Row, other: Row, column: number): boolean =>
  row.texts[column] === other.texts[column] && row.styles[column] === other.styles[column];

/** The cursor is at `from`; afterwards nothing is selected. */
export function stretch({ texts, styles }: Row, from: number, to: number): string {
  let end = texts.length;
  while (end > 0 && texts[end - 1] === ' ' && styles[end - 1] === plain) end -= 1;
  let text = '';
  let style = plain;
  for (let column = from; column < Math.min(to, end); column += 1) {
    const chars = texts[column] as string;
    if (chars === '') continue;
    const next = styles[column] as string;
    if (next !== style) text += `${unlink(style, next)}${next}`;
    style = next;
    text += chars;
    const width = texts[column + 1] === '' ? 2 : 1;
    // How far such a character moves the cursor is not the same everywhere.
    if (width > 1 || chars.length > 1) text += `\x1b[${Math.min(column + width + 1, texts.length)}G`;
  }
  text += `${unlink(style, plain)}${style === plain ? '' : plain}`;
  return to > end ? `${text}\x1b[K` : text;
}

const isLink = (style: string): boolean => style.startsWith('\x1b]8;');
const unlink = (style: string, next: string): string => (isLink(style) && !isLink(next) ? '\x1b]8;;\x1b\\' : '');
