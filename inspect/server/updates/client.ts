/**
 * One browser that is told what was committed. What it does not take is not kept for it: it is told that it missed
 * something, once it takes again, and loads its view anew. So the slowest of them costs a bounded number of bytes and
 * never a wait.
 */
import type { ServerResponse } from 'node:http';

/** What lies in this process for one client, at most; two of the largest messages. */
export const mostBufferedBytes = 1_048_576;

export interface ClientOptions {
  readonly response: ServerResponse;
  /** A client that takes again, with the position of what it got last. */
  readonly onCaughtUp: (client: StreamClient, from: number) => void;
  readonly onGone: (client: StreamClient) => void;
}

export class StreamClient {
  readonly #response: ServerResponse;
  /** Position of the last message that was written. */
  #position: number;
  #isLagging = false;

  constructor({ response, onCaughtUp, onGone }: ClientOptions, position: number) {
    this.#response = response;
    this.#position = position;
    response.on('drain', () => {
      if (!this.#isLagging) return;
      this.#isLagging = false;
      onCaughtUp(this, this.#position);
    });
    response.on('close', () => onGone(this));
    // A socket that breaks closes as well.
    response.on('error', () => {});
  }

  get isLagging(): boolean {
    return this.#isLagging;
  }

  /** False when it was left out. */
  send(text: string, position: number): boolean {
    if (this.#isLagging || this.#response.destroyed) return false;
    if (this.#response.writableLength > mostBufferedBytes) {
      this.#isLagging = true;
      return false;
    }
    this.#response.write(text);
    this.#position = position;
    return true;
  }

  /** A sign of life; not for one that takes nothing anyway. */
  beat(): void {
    if (!this.#isLagging && this.#response.writableLength === 0) this.#response.write(':\n\n');
  }

  end(text: string): void {
    if (this.#isLagging) this.#response.destroy();
    else this.#response.end(text);
  }
}
