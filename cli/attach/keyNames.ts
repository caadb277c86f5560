/**
 * Keys by the names that people give them, as the bytes that a terminal sends for them. The sequences are those of xterm
 * and its descendants (ctlseqs, "PC-Style Function Keys"); a modifier is a parameter of 1 + shift 1, alt 2, ctrl 4.
 */
import { InvalidArgumentError } from 'commander';

/** Keys that are one byte; alt puts an escape in front. */
const plain: Readonly<Record<string, string>> = {
  enter: '\r',
  return: '\r',
  tab: '\t',
  esc: '\x1b',
  escape: '\x1b',
  space: ' ',
  backspace: '\x7f',
};

/** Cursor and editing keys: what stands after `ESC [`, and the letter or `~` that ends it. */
const sequences: Readonly<Record<string, readonly [number: number, final: string]>> = {
  up: [1, 'A'],
  down: [1, 'B'],
  right: [1, 'C'],
  left: [1, 'D'],
  home: [1, 'H'],
  end: [1, 'F'],
  insert: [2, '~'],
  delete: [3, '~'],
  pgup: [5, '~'],
  pgdn: [6, '~'],
  f1: [1, 'P'],
  f2: [1, 'Q'],
  f3: [1, 'R'],
  f4: [1, 'S'],
  f5: [15, '~'],
  f6: [17, '~'],
  f7: [18, '~'],
  f8: [19, '~'],
  f9: [20, '~'],
  f10: [21, '~'],
  f11: [23, '~'],
  f12: [24, '~'],
};

const modifierBits: Readonly<Record<string, number>> = { shift: 1, alt: 2, ctrl: 4 };

export interface NamedKey {
  /** Lower case, or one character as it is. */
  readonly base: string;
  /** Sum of shift 1, alt 2, ctrl 4. */
  readonly modifiers: number;
}

/** `ctrl-x`, `^X`, `alt-enter`, `shift-tab`, `pgup`, `q`. Undefined for what names no key. */
export function namedKey(name: string): NamedKey | undefined {
  const caret = /^\^(.)$/u.exec(name)?.[1];
  let rest = caret === undefined ? name : `ctrl-${caret}`;
  let modifiers = 0;
  for (;;) {
    const [, word, after] = /^(shift|alt|ctrl|c|m|s)-(.+)$/iu.exec(rest) ?? [];
    if (word === undefined) break;
    const full = { c: 'ctrl', m: 'alt', s: 'shift' }[word.toLowerCase()] ?? word.toLowerCase();
    modifiers |= modifierBits[full] as number;
    rest = after as string;
  }
  const base = [...rest].length === 1 ? rest : rest.toLowerCase();
  const isKnown = base in plain || base in sequences || [...base].length === 1;
  return isKnown ? { base, modifiers } : undefined;
}

/** The byte that ctrl makes of a character: `ctrl-a` 1 … `ctrl-_` 31, `ctrl-?` 127, `ctrl-space` 0 (ISO 6429, ascii(7)). */
export function controlByte(character: string): number | undefined {
  if (character === ' ' || character === 'space') return 0;
  if (character === '?') return 0x7f;
  const code = character.toUpperCase().charCodeAt(0);
  return character.length === 1 && code >= 0x40 && code <= 0x5f ? code & 0x1f : undefined;
}

/** A key as a terminal sends it: as a rule, and while the program has the cursor keys in application mode (DECCKM). */
export interface KeyBytes {
  readonly bytes: Buffer;
  readonly applicationBytes: Buffer;
}

/** For commander: throws `InvalidArgumentError` for a name that is no key, or a modifier that the key cannot have. */
export function parseKey(name: string): KeyBytes {
  const key = namedKey(name);
  const text = key && textOf(key);
  if (text === undefined)
    throw new InvalidArgumentError(
      'Name a key such as enter, tab, esc, up, pgdn, f5, delete, ctrl-c, alt-x or shift-tab.',
    );
  const application = plainCursorKeys.has(text) ? text.replace('[', 'O') : text;
  return { bytes: Buffer.from(text), applicationBytes: Buffer.from(application) };
}

/** Only these have another form, and only without a modifier (ctlseqs, "PC-Style Function Keys"). */
const plainCursorKeys: ReadonlySet<string> = new Set([...'ABCDHF'].map((final) => `\x1b[${final}`));

function textOf({ base, modifiers }: NamedKey): string | undefined {
  const sequence = sequences[base];
  if (sequence !== undefined) return sequenceOf(sequence, modifiers);
  if (base === 'tab' && modifiers === 1) return '\x1b[Z';
  const isShifted = (modifiers & 1) !== 0;
  if (isShifted && base in plain) return undefined;
  const character = plain[base] ?? (isShifted ? base.toUpperCase() : base);
  const meta = (modifiers & 2) === 0 ? '' : '\x1b';
  if ((modifiers & 4) === 0) return meta + character;
  const control = controlByte(base);
  return control === undefined ? undefined : meta + String.fromCharCode(control);
}

/** F1 to F4 alone have the older form; everything else is a control sequence. */
function sequenceOf([number, final]: readonly [number, string], modifiers: number): string {
  if (modifiers !== 0) return `\x1b[${number};${modifiers + 1}${final}`;
  if (/[PQRS]/.test(final)) return `\x1bO${final}`;
  return final === '~' ? `\x1b[${number}~` : `\x1b[${final}`;
}
