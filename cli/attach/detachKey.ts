/**
 * Finds the keys with which a viewer leaves in what was typed. It waits for no clock: a key that begins the sequence is
 * held back until the next one says what it was, and pressing it twice sends it once.
 */
import { InvalidArgumentError } from 'commander';
import { controlByte, type NamedKey, namedKey } from './keyNames.ts';

/** One key: its byte, and how terminals say it that were told to disambiguate (kitty's protocol, modifyOtherKeys). */
interface DetachKey {
  readonly byte: number;
  readonly code: number;
  readonly isControl: boolean;
}

export interface DetachKeys {
  /** As it was given, for people. */
  readonly name: string;
  /** Empty when nothing detaches. */
  readonly keys: readonly DetachKey[];
}

export const defaultDetachKey = 'ctrl-] d';

/** `ctrl-] d`, `ctrl-p,ctrl-q`, `^a d`, or `none`. For commander: throws `InvalidArgumentError`. */
export function parseDetachKeys(spec: string): DetachKeys {
  const names = spec.trim() === ',' ? [','] : spec.split(/[\s,]+/).filter((name) => name !== '');
  if (names.length === 1 && names[0]?.toLowerCase() === 'none') return { name: 'none', keys: [] };
  const keys = names.map((name) => detachKey(namedKey(name)));
  if (keys.length === 0 || keys.includes(undefined))
    throw new InvalidArgumentError('Give keys such as "ctrl-] d", "ctrl-p ctrl-q" or "ctrl-\\\\", or none.');
  return { name: names.join(' '), keys: keys as DetachKey[] };
}

function detachKey(key: NamedKey | undefined): DetachKey | undefined {
  if (key === undefined) return undefined;
  const { base, modifiers } = key;
  const control = modifiers === 4 ? controlByte(base) : undefined;
  if (control !== undefined) return { byte: control, code: codeOf(base.toLowerCase()), isControl: true };
  const isPlain = modifiers === 0 && /^[\x20-\x7e]$/.test(base);
  return isPlain ? { byte: base.charCodeAt(0), code: codeOf(base), isControl: false } : undefined;
}

const codeOf = (base: string): number => (base === 'space' ? 0x20 : base.charCodeAt(0));

/** For people; undefined where no key leaves. */
export function wayOut({ keys, name }: DetachKeys, readOnly: boolean): string | undefined {
  const ways = [...(keys.length > 0 ? [name] : []), ...(readOnly ? ['ctrl-c'] : [])];
  return ways.length === 0 ? undefined : `detach with ${ways.join(' or ')}`;
}

export interface Scanned {
  readonly forward: Buffer;
  /** The sequence is complete; what follows it is nobody's. */
  readonly isDetached: boolean;
}

/** Behind an escape: `[ 93 ; 5 u` of kitty, with alternates, event type and text, or `[ 27 ; 5 ; 93 ~` of xterm. */
const disambiguated =
  /\[(?:27;(?<otherModifiers>\d+);(?<otherCode>\d+)~|(?<code>\d+)(?::\d*)*(?:;(?<modifiers>\d*)(?::(?<event>\d+))?)?(?:;[\d:]*)?u)/y;

/** Keys that only change others; kitty reports them where a program wants all of them. */
const isModifierKey = (code: number): boolean => code >= 57_441 && code <= 57_454;

interface Token {
  readonly bytes: Buffer;
  readonly code: number;
  /** shift 1, alt 2, ctrl 4; locks do not count. */
  readonly modifiers: number;
  /** The key went up, or it is a modifier by itself: neither presses anything. */
  readonly isSilent: boolean;
}

export class DetachScanner {
  readonly #keys: readonly DetachKey[];
  #held: Buffer[] = [];
  #matched = 0;

  constructor({ keys }: DetachKeys) {
    this.#keys = keys;
  }

  push(chunk: Buffer): Scanned {
    if (this.#keys.length === 0) return { forward: chunk, isDetached: false };
    const forward: Buffer[] = [];
    for (const token of tokensOf(chunk, this.#keys)) {
      if (this.#take(token, forward)) return { forward: Buffer.concat(forward), isDetached: true };
    }
    return { forward: Buffer.concat(forward), isDetached: false };
  }

  /** True when `token` completes the sequence. */
  #take(token: Token, forward: Buffer[]): boolean {
    if (this.#matched === 0 && !isKey(token, this.#keys[0]!)) {
      forward.push(token.bytes);
      return false;
    }
    if (token.isSilent) {
      this.#held.push(token.bytes);
      return false;
    }
    if (isKey(token, this.#keys[this.#matched]!)) {
      this.#held.push(token.bytes);
      this.#matched += 1;
      return this.#matched === this.#keys.length;
    }
    const isRepeated = this.#matched === 1 && isKey(token, this.#keys[0]!);
    forward.push(...this.#held, ...(isRepeated ? [] : [token.bytes]));
    this.#held = [];
    this.#matched = 0;
    return false;
  }
}

function isKey({ bytes, code, modifiers, isSilent }: Token, key: DetachKey): boolean {
  if (bytes.length === 1) return bytes[0] === key.byte;
  return !isSilent && code === key.code && modifiers === (key.isControl ? 4 : 0);
}

/** Bytes between keys that could matter stay together, so that a long paste costs one pass. */
function* tokensOf(chunk: Buffer, keys: readonly DetachKey[]): Generator<Token> {
  const bytes = new Set(keys.map(({ byte }) => byte));
  const text = chunk.toString('latin1');
  for (let at = 0; at < chunk.length; ) {
    disambiguated.lastIndex = at + 1;
    const found = chunk[at] === 0x1b ? disambiguated.exec(text) : null;
    if (found !== null) {
      const end = disambiguated.lastIndex;
      yield tokenOf(chunk.subarray(at, end), found.groups as Record<string, string | undefined>);
      at = end;
      continue;
    }
    const start = at;
    at += 1;
    if (!bytes.has(chunk[start]!)) while (at < chunk.length && chunk[at] !== 0x1b && !bytes.has(chunk[at]!)) at += 1;
    yield { bytes: chunk.subarray(start, at), code: -1, modifiers: 0, isSilent: false };
  }
}

function tokenOf(bytes: Buffer, groups: Record<string, string | undefined>): Token {
  const code = Number(groups.otherCode ?? groups.code);
  const modifiers = (Number(groups.otherModifiers ?? (groups.modifiers || '1')) - 1) & 0b111;
  return { bytes, code, modifiers, isSilent: groups.event === '3' || isModifierKey(code) };
}
