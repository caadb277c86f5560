/** The bytes that a terminal has been given and has not acted on: a sequence or a character that was cut. */
import type headless from '@xterm/headless';
import { innerOf, isAtRest } from './internals.ts';

/** What a terminal may hold of one sequence; more, and it is given up as the rest of something that nobody will see. */
const maxBytes = 1024 * 1024;
const none = new Uint8Array(0);

export class Unfinished {
  #bytes: Uint8Array = none;

  /** After `chunk` has been fed: an escape begins a sequence whatever came before it, so only the last one can be open. */
  after(terminal: headless.Terminal, chunk: Uint8Array): void {
    if (isAtRest(terminal)) this.#bytes = none;
    else if (isInCharacter(terminal)) this.#bytes = characterOf(terminal);
    else this.#grow(chunk, sequenceStart(chunk));
  }

  #grow(chunk: Uint8Array, start: number): void {
    if (start >= 0) this.#bytes = chunk.slice(start);
    else this.#bytes = this.#bytes.length + chunk.length > maxBytes ? none : Buffer.concat([this.#bytes, chunk]);
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }
}

/** Escape, or one of the C1 controls as UTF-8 writes them. */
function sequenceStart(chunk: Uint8Array): number {
  const last = chunk.lastIndexOf(0x1b);
  for (let at = chunk.length - 1; at > last; at -= 1) {
    const next = chunk[at + 1];
    if (chunk[at] === 0xc2 && next !== undefined && next >= 0x80 && next <= 0x9f) return at;
  }
  return last;
}

/** Between sequences, but not between characters. */
function isInCharacter(terminal: headless.Terminal): boolean {
  return innerOf(terminal)._inputHandler._parser.currentState === 0;
}

function characterOf(terminal: headless.Terminal): Uint8Array {
  const { interim } = innerOf(terminal)._inputHandler._utf8Decoder;
  const end = interim.indexOf(0);
  return interim.slice(0, end < 0 ? interim.length : end);
}
