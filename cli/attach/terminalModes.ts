/**
 * What a program has switched on in the viewer's terminal, learned from the bytes on their way there, so that leaving puts
 * back that and nothing else: leaving an alternate screen that nobody entered would move the cursor. Sequences are those
 * of xterm (ctlseqs) and of kitty's keyboard protocol.
 */

const esc = 0x1b;
const longestSequence = 256;

/** Private modes that are on in a terminal that nobody has touched; they are put back by setting them. */
const onByDefault = new Set(['7', '8']);
/** Each shows the alternate screen; 1049 brings the cursor back as well. */
const alternateScreens = new Set(['47', '1047', '1049']);
/** 1048 saves a cursor and holds nothing, 3 would change the size of the window, 25 is set in any case. */
const passedOver = new Set(['3', '25', '1048']);

type Kind = 'kitty' | 'otherKeys' | 'keypad' | 'margins' | 'cursorStyle' | 'insert' | 'link';
type State = 'ground' | 'escape' | 'sequence' | 'string' | 'stringEscape';

export class TerminalModes {
  #state: State = 'ground';
  #sequence = '';
  /** Private modes that differ from their default. */
  readonly #changed = new Set<string>();
  readonly #kinds = new Set<Kind>();

  /** Bytes that go to the terminal, in any chunking. */
  note(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += 1) {
      if (this.#state === 'ground') {
        at = bytes.indexOf(esc, at);
        if (at < 0) return;
        this.#state = 'escape';
      } else {
        this.#take(bytes[at]!);
      }
    }
  }

  #take(byte: number): void {
    // CAN and SUB abort whatever is under way, ESC begins anew (ISO 6429, and every emulator since the VT100).
    if (byte === 0x18 || byte === 0x1a) this.#state = 'ground';
    else if (byte === esc) this.#state = this.#state === 'string' ? 'stringEscape' : 'escape';
    else if (this.#state === 'escape') this.#escaped(byte);
    else if (this.#state === 'sequence') this.#inSequence(byte);
    else if (this.#state === 'stringEscape') this.#afterString(byte);
    else this.#inString(byte);
  }

  #escaped(byte: number): void {
    const character = String.fromCharCode(byte);
    this.#sequence = '';
    if (character === '[') this.#state = 'sequence';
    else if (']PX^_'.includes(character)) this.#state = 'string';
    else if (byte >= 0x30) {
      this.#state = 'ground';
      if (character === '=') this.#kinds.add('keypad');
      else if (character === '>') this.#kinds.delete('keypad');
      else if (character === 'c') this.#reset();
    }
  }

  #inSequence(byte: number): void {
    if (byte >= 0x40 && byte <= 0x7e) {
      this.#state = 'ground';
      this.#apply(this.#sequence, String.fromCharCode(byte));
    } else if (byte >= 0x20 && this.#sequence.length < longestSequence) {
      this.#sequence += String.fromCharCode(byte);
    }
  }

  /** Only the beginning of a string is looked at: a picture may be megabytes. */
  #inString(byte: number): void {
    if (byte === 0x07) this.#endString();
    else if (this.#sequence.length < 4) this.#sequence += String.fromCharCode(byte);
  }

  #afterString(byte: number): void {
    if (byte === 0x5c) this.#endString();
    else this.#escaped(byte);
  }

  #endString(): void {
    this.#state = 'ground';
    if (this.#sequence.startsWith('8;')) this.#kinds.add('link');
  }

  #reset(): void {
    this.#changed.clear();
    this.#kinds.clear();
  }

  #apply(parameters: string, final: string): void {
    if (final === 'h' || final === 'l') this.#mode(parameters, final === 'h');
    else if (final === 'u' && /^[<=>]/.test(parameters)) this.#kinds.add('kitty');
    else if (final === 'm' && parameters.startsWith('>4')) this.#kinds.add('otherKeys');
    else if (final === 'r' && /^[\d;]*$/.test(parameters)) this.#set('margins', parameters !== '');
    else if (final === 'q' && parameters.endsWith(' ')) this.#set('cursorStyle', !/^0? $/.test(parameters));
    else if (final === 'p' && parameters === '!') this.#softReset();
  }

  #mode(parameters: string, isOn: boolean): void {
    if (parameters === '4') this.#set('insert', isOn);
    if (!parameters.startsWith('?')) return;
    for (const mode of parameters.slice(1).split(';')) {
      if (passedOver.has(mode) || !/^\d+$/.test(mode)) continue;
      if (isOn === onByDefault.has(mode)) this.#changed.delete(mode);
      else this.#changed.add(mode);
    }
  }

  #set(kind: 'margins' | 'cursorStyle' | 'insert', isOn: boolean): void {
    if (isOn) this.#kinds.add(kind);
    else this.#kinds.delete(kind);
  }

  /** DECSTR: what a VT510 puts back by itself (VT510 manual, "Soft Terminal Reset"). */
  #softReset(): void {
    for (const mode of ['1', '6', '7']) this.#changed.delete(mode);
    for (const kind of ['keypad', 'margins', 'insert'] as const) this.#kinds.delete(kind);
  }

  get isAlternate(): boolean {
    return [...this.#changed].some((mode) => alternateScreens.has(mode));
  }

  /**
   * Brings the terminal back. It begins by ending whatever sequence was cut in the middle, and with output held back by
   * the program (2026), without which the rest would not be seen. The cursor stays where it is, or returns to where it was
   * before the alternate screen.
   */
  get undo(): string {
    const has = (kind: Kind): boolean => this.#kinds.has(kind);
    const isCut = this.#state !== 'ground';
    const kitty = has('kitty') ? '\x1b[=0;1u\x1b[<99u' : '';
    const others = [...this.#changed].filter((mode) => !alternateScreens.has(mode) && mode !== '2026');
    const screens = [...this.#changed].filter((mode) => alternateScreens.has(mode));
    return [
      isCut ? '\x18' : '',
      this.#changed.has('2026') ? '\x1b[?2026l' : '',
      has('link') ? '\x1b]8;;\x1b\\' : '',
      kitty,
      has('margins') ? '\x1b7\x1b[r\x1b8' : '',
      ...screens.map((mode) => `\x1b[?${mode}l`),
      // The keys have a stack for each screen.
      screens.length > 0 ? kitty : '',
      ...others.map((mode) => `\x1b[?${mode}${onByDefault.has(mode) ? 'h' : 'l'}`),
      has('otherKeys') ? '\x1b[>4m' : '',
      has('keypad') ? '\x1b>' : '',
      has('insert') ? '\x1b[4l' : '',
      has('cursorStyle') ? '\x1b[0 q' : '',
      // Harmless wherever they are the usual ones: attributes, character sets, and the cursor, which not every terminal
      // shows again after a reset.
      '\x1b[m\x1b(B\x0f\x1b[?25h',
    ].join('');
  }
}
