/** The terminal that renders what a session said, made fit for output that nobody has checked. */
import headless from '@xterm/headless';
import { Keyboard } from './keyboard.ts';

export interface EmulatorOptions {
  readonly cols: number;
  readonly rows: number;
  /** Lines of history. */
  readonly scrollback: number;
  /** A cleared screen goes into the history. */
  readonly keepsErased?: boolean;
}

export function createEmulator({ cols, rows, scrollback, keepsErased = false }: EmulatorOptions): headless.Terminal {
  const terminal = new headless.Terminal({
    ...atLeastTwo(cols, rows),
    scrollback,
    scrollOnEraseInDisplay: keepsErased,
    allowProposedApi: true,
    logLevel: 'off',
  });
  survive(terminal);
  widen(terminal);
  keyboards.set(terminal, new Keyboard(terminal));
  return terminal;
}

const keyboards = new WeakMap<headless.Terminal, Keyboard>();

/** Of a terminal that was made here. */
export function keyboardOf(terminal: headless.Terminal): Keyboard {
  return keyboards.get(terminal) as Keyboard;
}

/** The terminal knows no narrower screen than two columns. */
export function atLeastTwo(cols: number, rows: number): { readonly cols: number; readonly rows: number } {
  return { cols: Math.max(2, cols), rows: Math.max(1, rows) };
}

/** Resolves when the bytes have had their effect. The terminal keeps no reference to them then. */
export function written(terminal: headless.Terminal, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => terminal.write(bytes, resolve));
}

type Handler = (...args: unknown[]) => unknown;

interface Parser {
  _printHandler: Handler;
  readonly _executeHandlers: Record<string, Handler>;
  readonly _csiHandlers: Readonly<Record<string, Handler[]>>;
  readonly _escHandlers: Readonly<Record<string, Handler[]>>;
}

/**
 * Some sequences make the terminal throw (erasing to the start in the last cell does), from a timer, where nobody could
 * catch it: a program would end whoever renders it. Such a sequence has no effect instead.
 */
function survive(terminal: headless.Terminal): void {
  const { _core } = terminal as unknown as { readonly _core: { readonly _inputHandler: { readonly _parser: Parser } } };
  const parser = _core._inputHandler._parser;
  parser._printHandler = surviving(parser._printHandler);
  for (const [code, handler] of Object.entries(parser._executeHandlers)) {
    parser._executeHandlers[code] = surviving(handler);
  }
  for (const handlers of [...Object.values(parser._csiHandlers), ...Object.values(parser._escHandlers)]) {
    for (const [index, handler] of handlers.entries()) handlers[index] = surviving(handler);
  }
}

function surviving(handler: Handler): Handler {
  return (...args) => {
    try {
      return handler(...args);
    } catch {
      return true;
    }
  };
}

const wideEmoji = /^\p{Emoji_Presentation}$/u;
/** Nothing below is an emoji; most text ends here. */
const firstEmoji = 0x231a;

interface Widths {
  readonly _providers: Readonly<Record<string, headless.IUnicodeVersionProvider>>;
}

/** Emoji take two columns, as terminals of today show them; the tables of the terminal are older than that. */
function widen(terminal: headless.Terminal): void {
  const { _core } = terminal as unknown as { readonly _core: { readonly unicodeService: Widths } };
  const base = _core.unicodeService._providers['6'];
  if (base === undefined) throw new Error('the terminal has lost its width tables');
  const isWide = (codepoint: number) => codepoint >= firstEmoji && isEmoji(codepoint);
  terminal.unicode.register({
    version: 'emoji',
    wcwidth: (codepoint) => (isWide(codepoint) ? 2 : base.wcwidth(codepoint)),
    // The join state of a character that joins nothing is twice its width.
    charProperties: (codepoint, preceding) => (isWide(codepoint) ? 4 : base.charProperties(codepoint, preceding)),
  });
  terminal.unicode.activeVersion = 'emoji';
}

const known = new Map<number, boolean>();

function isEmoji(codepoint: number): boolean {
  let answer = known.get(codepoint);
  if (answer === undefined) {
    answer = wideEmoji.test(String.fromCodePoint(codepoint));
    // There are as many entries as characters that somebody printed, and never more than a few thousand emoji matter.
    if (known.size < 20_000) known.set(codepoint, answer);
  }
  return answer;
}
