/** One client of the inspection protocol: what it is told, how far it may fall behind, and how much of it is listened to. */
import type { WebSocket } from 'ws';

/** A client that takes no more than this is behind for good: it is let go, and may come back for the present. */
const mostBufferedBytes = 4_194_304;
/** What it may say in a second; each byte of it is parsed in the thread that commits. */
const heardBytesPerSecond = 1_048_576;
/** Why a socket was closed, in the range that programs may use (RFC 6455, 7.4.2). */
const tooSlow = 4_008;

export class Follower {
  readonly #socket: WebSocket;
  /** Version of each actor that was there first, as far as it was told: Infinity until then, for the snapshot shows it all. */
  readonly #begins = new Map<string, number>();
  #heardSinceMs = Number.NEGATIVE_INFINITY;
  #heardBytes = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** Whether it was not told of this version of the actor yet, and is not about to be. */
  isNews(key: string, version: number): boolean {
    return version > (this.#begins.get(key) ?? 0);
  }

  awaits(key: string): void {
    this.#begins.set(key, Number.POSITIVE_INFINITY);
  }

  announced(key: string, version: number): void {
    this.#begins.set(key, version);
  }

  send(text: string): void {
    if (!this.isOpen) return;
    if (this.#socket.bufferedAmount > mostBufferedBytes) this.letGo('too slow');
    else this.#socket.send(text);
  }

  /** Resolves when all of it has left this process, or the socket is gone. */
  handOver(texts: readonly string[]): Promise<void> {
    return new Promise((resolve) => {
      for (const text of texts.slice(0, -1)) this.send(text);
      const last = texts.at(-1);
      if (last === undefined || !this.isOpen) resolve();
      else this.#socket.send(last, () => resolve());
    });
  }

  letGo(why: string): void {
    this.#socket.close(tooSlow, why);
  }

  /** Whether so much more is listened to at `monoMs`. */
  mayHear(bytes: number, monoMs: number): boolean {
    if (monoMs - this.#heardSinceMs >= 1_000) {
      this.#heardSinceMs = monoMs;
      this.#heardBytes = 0;
    }
    this.#heardBytes += bytes;
    return this.#heardBytes <= heardBytesPerSecond;
  }
}
