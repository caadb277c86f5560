/** Recordings on their way to somebody, each made no faster than it is taken. */
import { exportTranscript } from '../../../pty/transcript/export.ts';
import type { Work } from './protocol.ts';

/** So much is handed over at once; most events of a recording are some bytes. */
const pieceBytes = 64 * 1024;

export class Recordings {
  readonly #open = new Map<number, AsyncGenerator<Uint8Array, void, undefined>>();

  /** The next piece of the one that is called `reader`; undefined behind the last. Throws what reading it throws. */
  async next({ reader, dir, isFirst }: Extract<Work, { do: 'recording' }>): Promise<Uint8Array | undefined> {
    const known = this.#open.get(reader);
    // Of another thread, which was given up: from its beginning it would be there twice.
    if (known === undefined && !isFirst) throw new Error('what was read of the recording is not known any more');
    const pieces = known ?? (await exportTranscript(dir, 'asciicast')).pieces;
    this.#open.set(reader, pieces);
    const taken: Uint8Array[] = [];
    try {
      for (let bytes = 0; bytes < pieceBytes; ) {
        const { value, done } = await pieces.next();
        if (done) break;
        taken.push(value);
        bytes += value.length;
      }
    } catch (error) {
      this.#open.delete(reader);
      throw error;
    }
    if (taken.length > 0) return Buffer.concat(taken);
    this.#open.delete(reader);
    return undefined;
  }

  /** For whoever does not want the rest. */
  async close(reader: number): Promise<void> {
    const pieces = this.#open.get(reader);
    this.#open.delete(reader);
    await pieces?.return();
  }
}
