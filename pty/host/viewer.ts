/**
 * One reader of a session's output. It has a place in the transcript and is served from there: what has just been written
 * is passed on directly, anything older is read back from the file. So a viewer costs no queue of its own, and one that
 * stops reading costs nothing at all: the session never waits for it.
 */
import type { Socket } from 'node:net';
import { jsonFrame, outputHead } from '../wire/frames.ts';
import type { HostEvent } from '../wire/messages.ts';
import type { ScreenView } from './ports.ts';

/** What lies in the socket's queue before a viewer counts as slow. */
const queueMaxBytes = 1024 * 1024;
const readBytes = 256 * 1024;
/** A viewer of the screen that is further behind than this gets the screen as it is, not all that led to it. */
const lagMaxBytes = 1024 * 1024;

export interface Source {
  readonly sessionId: string;
  /** Offset after the last byte. */
  readonly end: () => number;
  /** Bytes from `offset` on, at most `maxBytes`; `offset` is that of the first, later than asked for where bytes are missing. */
  readonly read: (offset: number, maxBytes: number) => { offset: number; bytes: Buffer };
  readonly screen: () => Promise<ScreenView>;
  /** Whether every byte from `offset` on is shown to the viewer has changed: its terminal answers only what is asked there. */
  readonly changedFrom: (offset: number) => void;
}

export interface ViewerOptions {
  readonly socket: Socket;
  readonly source: Source;
  readonly mode: 'screen' | 'every byte';
  readonly readOnly: boolean;
  /** First offset of a viewer that wants every byte. */
  readonly from: number;
}

export class Viewer {
  readonly readOnly: boolean;
  readonly #socket: Socket;
  readonly #source: Source;
  readonly #isScreen: boolean;
  #next: number;
  /** What comes is shown to it, byte for byte. */
  #isShown = false;
  /** A screen has been asked for; output waits for it. */
  #isRepainting = false;
  #isGone = false;
  #last: HostEvent | undefined;
  /** What a slow viewer is told later: of many sizes only the last. */
  #resized: HostEvent | undefined;
  readonly #onDrain = (): void => this.#pump();

  constructor({ socket, source, mode, readOnly, from }: ViewerOptions) {
    this.#socket = socket;
    this.#source = source;
    this.#isScreen = mode === 'screen';
    this.readOnly = readOnly;
    this.#next = this.#isScreen ? source.end() : from;
    socket.on('drain', this.#onDrain);
  }

  /** Sends the screen, or the first bytes. */
  begin(): void {
    if (this.#isScreen) void this.#repaint();
    else {
      this.#begun();
      this.#pump();
    }
  }

  /** Whether its terminal is there to answer what the program asks. */
  get isAnswering(): boolean {
    return this.#isShown && !this.readOnly;
  }

  /** End of what it was shown. */
  get shownTo(): number {
    return this.#next;
  }

  #begun(): void {
    if (this.#isShown || this.#isGone) return;
    this.#isShown = true;
    this.#source.changedFrom(this.#next);
  }

  /** `pieces` were just read at `offset`. What a full disk refused of them has no place in the transcript and is shown all the same. */
  output(offset: number, pieces: readonly Buffer[]): void {
    if (this.#isGone || this.#isRepainting) return;
    if (offset !== this.#next || this.#isSlow) {
      this.#pump();
      return;
    }
    this.#send(pieces);
    this.#next = this.#source.end();
  }

  tell(event: HostEvent): void {
    if (!this.#isGone) this.#socket.write(jsonFrame(event));
  }

  resized(event: HostEvent): void {
    if (this.#isSlow) this.#resized = event;
    else this.tell(event);
  }

  /** Sends `event` after the last byte of output. */
  end(event: HostEvent): void {
    this.#last = event;
    this.#pump();
  }

  leave(): void {
    this.#isGone = true;
    this.#socket.off('drain', this.#onDrain);
  }

  get #isSlow(): boolean {
    return this.#socket.writableLength > queueMaxBytes;
  }

  /** One frame, so that a batch costs one call of the system and one turn of the viewer's loop. */
  #send(pieces: readonly Buffer[]): void {
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    this.#socket.cork();
    this.#socket.write(outputHead(this.#next, bytes));
    for (const piece of pieces) this.#socket.write(piece);
    this.#socket.uncork();
    this.#next += bytes;
  }

  /** Brings the viewer up to the end of the transcript, as far as it takes it. */
  #pump(): void {
    if (this.#isGone || this.#isRepainting) return;
    if (this.#resized !== undefined && !this.#isSlow) {
      this.tell(this.#resized);
      this.#resized = undefined;
    }
    const end = this.#source.end();
    if (this.#isScreen && end - this.#next > lagMaxBytes && !this.#isSlow) {
      this.tell({ event: 'gap', sessionId: this.#source.sessionId, from: this.#next, to: end });
      void this.#repaint();
      return;
    }
    while (this.#next < end && !this.#isSlow) if (!this.#sendStored(end)) break;
    if (this.#next >= end && this.#last !== undefined) {
      this.tell(this.#last);
      this.#last = undefined;
    }
  }

  /** False when nothing more is stored before `end`: the rest was never written. */
  #sendStored(end: number): boolean {
    const { offset, bytes } = this.#source.read(this.#next, Math.min(readBytes, end - this.#next));
    const isMissing = bytes.length === 0;
    const found = isMissing ? end : offset;
    if (found > this.#next) {
      this.tell({ event: 'gap', sessionId: this.#source.sessionId, from: this.#next, to: found });
      this.#next = found;
    }
    if (isMissing) return false;
    this.#send([bytes]);
    return true;
  }

  async #repaint(): Promise<void> {
    this.#isRepainting = true;
    if (this.#isShown) {
      this.#isShown = false;
      this.#source.changedFrom(this.#next);
    }
    try {
      const { offset, cols, rows, repaint } = await this.#source.screen();
      this.tell({ event: 'screen', sessionId: this.#source.sessionId, offset, cols, rows, repaint });
      this.#next = offset;
    } catch {
      // Without a screen the viewer goes on with what comes; it has been told of the gap.
      this.#next = this.#source.end();
    } finally {
      this.#isRepainting = false;
    }
    this.#begun();
    this.#pump();
  }
}
