/**
 * What a terminal knows and its public interface does not tell, but a faithful repaint needs: margins, the saved cursor,
 * character sets, how far its parser is. The version of the package is exact, and the fidelity tests fail when a name moves.
 */
import headless from '@xterm/headless';

/** Attributes of a cell or of what is written next; `extended` holds what does not fit into the two numbers. */
export interface Attributes {
  readonly fg: number;
  readonly bg: number;
  readonly extended: {
    /** The style of the line under it, in bits 26 to 28; within a link the getter for it tells the link's own. */
    readonly _ext: number;
    readonly underlineColor: number;
    readonly urlId: number;
  };
  hasExtendedAttrs(): number;
}

export type Cell = headless.IBufferCell & Attributes;

/** A table of replacements; none for ASCII. */
export type Charset = object | undefined;

export interface InnerBuffer {
  readonly x: number;
  readonly y: number;
  readonly ybase: number;
  readonly scrollTop: number;
  readonly scrollBottom: number;
  readonly tabs: Readonly<Record<number, boolean | undefined>>;
  readonly savedX: number;
  /** Counted from the first line of the history. */
  readonly savedY: number;
  readonly savedCurAttrData: Attributes;
  readonly savedCharset: Charset;
}

export interface Inner {
  readonly buffers: { readonly normal: InnerBuffer; readonly alt: InnerBuffer; readonly active: InnerBuffer };
  readonly _inputHandler: {
    readonly _curAttrData: Attributes;
    readonly _parser: { readonly currentState: number; readonly precedingJoinState: number };
    readonly _utf8Decoder: { readonly interim: Uint8Array };
  };
  readonly _charsetService: {
    readonly charset: Charset;
    readonly glevel: number;
    readonly _charsets: readonly Charset[];
  };
  readonly coreService: {
    readonly isCursorHidden: boolean;
    readonly decPrivateModes: { readonly cursorStyle?: string; readonly cursorBlink?: boolean };
  };
  readonly coreMouseService: { readonly activeEncoding: string };
  readonly _oscLinkService: { getLinkData(id: number): { readonly id?: string; readonly uri: string } | undefined };
}

export function innerOf(terminal: headless.Terminal): Inner {
  return (terminal as unknown as { readonly _core: Inner })._core;
}

/** True between sequences and between characters: what was fed so far has had its whole effect. */
export function isAtRest(terminal: headless.Terminal): boolean {
  const { _parser, _utf8Decoder } = innerOf(terminal)._inputHandler;
  return _parser.currentState === 0 && _utf8Decoder.interim[0] === 0;
}

/** The final letters that select a character set; the sets themselves have no names inside. */
const charsetLetters = '0A4C5RQKYE6ZH7=';
let knownCharsets: ReadonlyMap<Charset, string> | undefined;

/** What selects a character set, by what it is inside. Resolves at once but for the first time. */
export async function charsetNames(): Promise<ReadonlyMap<Charset, string>> {
  if (knownCharsets !== undefined) return knownCharsets;
  const scratch = new headless.Terminal({ allowProposedApi: true, cols: 2, rows: 1 });
  const names = new Map<Charset, string>([[undefined, 'B']]);
  for (const letter of charsetLetters) {
    await new Promise<void>((resolve) => scratch.write(`\x1b(${letter}`, resolve));
    names.set(innerOf(scratch)._charsetService._charsets[0], letter);
  }
  scratch.dispose();
  knownCharsets = names;
  return names;
}
