/**
 * Input on its way into a terminal. The kernel takes as much as the program has room for and no descriptor of Node's can
 * wait for more room on a master (libuv would write blockingly, node-pty asks again on every turn of the loop): so a
 * refused write is tried again after a pause that doubles, and at once when the program has said something.
 */
import { writeSync } from 'node:fs';

const firstPauseMs = 1;
const longestPauseMs = 64;
/** What one turn of the loop writes at most: other sessions have keys to echo too. */
const turnBytes = 64 * 1024;

interface Piece {
  readonly bytes: Uint8Array;
  written: number;
  readonly done: (error?: Error) => void;
}

export class InputError extends Error {
  readonly code: 'input_full' | 'session_ended';

  constructor(code: InputError['code'], message: string) {
    super(message);
    this.name = 'InputError';
    this.code = code;
  }
}

export class InputQueue {
  readonly #fd: number;
  readonly #maxBytes: number;
  readonly #pieces: Piece[] = [];
  readonly #waiting = new Set<{ readonly below: number; readonly resolve: () => void }>();
  #bytes = 0;
  #pauseMs = firstPauseMs;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** `fd` is nonblocking and stays open until `close` has been called. */
  constructor({ fd, maxBytes }: { readonly fd: number; readonly maxBytes: number }) {
    this.#fd = fd;
    this.#maxBytes = maxBytes;
  }

  /** Bytes that the program has not taken. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Resolves when the kernel has the last byte. Rejects with InputError: `input_full` when it would hold more than its
   * bound, and then nothing of it is written; `session_ended` when the terminal goes first.
   */
  write(bytes: Uint8Array): Promise<void> {
    if (this.#bytes + bytes.length <= this.#maxBytes || this.#closed) return this.type(bytes);
    const message = `the program has not read ${this.#bytes} bytes of earlier input; ${bytes.length} more exceed ${this.#maxBytes}`;
    return Promise.reject(new InputError('input_full', message));
  }

  /** Without the bound: for keys, which nobody could type again. Whoever passes them on waits for `room` before the next. */
  type(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new InputError('session_ended', 'the terminal has ended'));
      const done = (error?: Error): void => (error ? reject(error) : resolve());
      this.#pieces.push({ bytes, written: 0, done });
      this.#bytes += bytes.length;
      if (this.#timer === undefined) this.#flush();
    });
  }

  /** Resolves when at most `below` bytes wait, or nothing will be taken any more. */
  room(below: number): Promise<void> {
    if (this.#bytes <= below || this.#closed) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add({ below, resolve }));
  }

  #tellRoom(): void {
    for (const waiting of this.#waiting) {
      if (this.#bytes > waiting.below) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }

  /** The program has written something, so it may have read as well. */
  nudge(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#flush();
  }

  #flush(): void {
    this.#timer = undefined;
    let left = turnBytes;
    try {
      while (this.#pieces.length > 0 && left > 0) {
        const written = this.#writeSome(this.#pieces[0]!);
        left -= written;
        if (written > 0) this.#pauseMs = firstPauseMs;
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EAGAIN') {
        this.#fail(error as Error);
        return;
      }
      this.#again(this.#pauseMs);
      this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
      return;
    }
    if (this.#pieces.length > 0) this.#again(0);
  }

  #writeSome(piece: Piece): number {
    const written = writeSync(this.#fd, piece.bytes, piece.written);
    piece.written += written;
    this.#bytes -= written;
    this.#tellRoom();
    if (piece.written === piece.bytes.length) {
      this.#pieces.shift();
      piece.done();
    }
    return written;
  }

  #again(afterMs: number): void {
    this.#timer = setTimeout(() => this.#flush(), afterMs);
  }

  #fail(error: Error): void {
    this.#bytes = 0;
    this.#tellRoom();
    for (const { done } of this.#pieces.splice(0)) done(error);
  }

  /** From now on the descriptor is never touched; whoever waits is told. Called before the descriptor is closed. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#fail(new InputError('session_ended', 'the terminal has ended'));
  }
}
