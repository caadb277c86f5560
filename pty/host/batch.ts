/**
 * Puts together what a busy terminal says. The kernel hands out some 4 kB at a time and each costs a turn of the loop; to
 * record and show every one by itself would cost more than to read it. A batch ends with the first turn that brings
 * nothing, so a key is echoed as soon as it would be without, or when it is full.
 */
const fullBytes = 64 * 1024;

export class Batch {
  readonly #flush: (chunks: readonly Buffer[]) => void;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Whether this turn of the loop has brought anything. */
  #isGrowing = false;
  #isScheduled = false;

  /** `flush` is given everything since the last time, in order, and never nothing. */
  constructor(flush: (chunks: readonly Buffer[]) => void) {
    this.#flush = flush;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#isGrowing = true;
    if (this.#bytes >= fullBytes) this.flush();
    else this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#isScheduled = false;
    if (this.#chunks.length === 0) return;
    if (this.#isGrowing) {
      this.#isGrowing = false;
      this.#schedule();
    } else {
      this.flush();
    }
  }

  flush(): void {
    if (this.#chunks.length === 0) return;
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#bytes = 0;
    this.#flush(chunks);
  }
}
