/**
 * Which notes of one stream have come, in whatever order, and which never did: numbers have no holes, so whatever is
 * missing below one that is there was lost (INT-05).
 */
import type { Note } from '../../machines/note.ts';

/** Consecutive notes that are missing, between two that are there. */
export interface Loss {
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Wall time of the notes before and after, in ms; the first of a stream has nobody before it. */
  readonly fromWallMs: number;
  readonly toWallMs: number;
  /** The boot of the note after it. */
  readonly bootId: string;
}

interface Seen {
  readonly seq: number;
  readonly at: Note['at'];
}

export class Ledger {
  readonly #taken: number;
  readonly #seen = new Map<number, Note['at']>();

  /** `taken`: the number up to which everything is accounted for already. */
  constructor(taken: number) {
    this.#taken = taken;
  }

  saw({ seq, at }: Seen): void {
    if (seq > this.#taken) this.#seen.set(seq, at);
  }

  /** The number up to which everything is accounted for now, and what is missing below it. */
  account(): { readonly taken: number; readonly losses: readonly Loss[] } {
    const numbers = [...this.#seen.keys()].sort((a, b) => a - b);
    const losses: Loss[] = [];
    let last = this.#taken;
    for (const seq of numbers) {
      const at = this.#seen.get(seq)!;
      if (seq > last + 1) {
        const fromWallMs = Math.min(this.#seen.get(last)?.wallMs ?? at.wallMs, at.wallMs);
        losses.push({ firstSeq: last + 1, lastSeq: seq - 1, fromWallMs, toWallMs: at.wallMs, bootId: at.bootId });
      }
      last = seq;
    }
    return { taken: last, losses };
  }
}
