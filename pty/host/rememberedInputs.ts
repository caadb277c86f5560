/**
 * What was typed into one session under which id. A daemon that died between the answer and its commit repeats the request,
 * and the program must not get the same text twice (STOP-08). Ids, sizes and digests only, in memory only (PTY-08).
 */
import { HostError } from '../wire/hostError.ts';

export interface Sent {
  readonly bytes: number;
  readonly bracketed: boolean;
}

interface Remembered {
  /** Of the request, so that an id is not used for something else. */
  readonly digest: string;
  readonly outcome: Promise<Sent>;
  /** Undefined while it is being typed, and when it failed. */
  sent?: Sent;
  isSettled: boolean;
}

/** Errors after which nothing of the input has reached the terminal: the same request may be made again. */
const nothingWritten: ReadonlySet<unknown> = new Set(['input_full', 'screen_unavailable']);

export class RememberedInputs {
  readonly #byId = new Map<string, Remembered>();
  readonly #max: number;

  constructor(max = 1_024) {
    this.#max = max;
  }

  /** Everything that was typed and is remembered, oldest first. */
  get all(): (Sent & { readonly inputId: string; readonly digest: string })[] {
    return [...this.#byId].flatMap(([inputId, { sent, digest }]) => (sent ? [{ inputId, ...sent, digest }] : []));
  }

  /** Types unless it was done before, or is being done. Throws `input_id_reused`, and what `type` throws. */
  async once(
    inputId: string,
    digest: string,
    type: () => Promise<Sent>,
  ): Promise<Sent & { readonly isRepeated: boolean }> {
    const known = this.#byId.get(inputId);
    if (known === undefined) return { ...(await this.#first(inputId, digest, type)), isRepeated: false };
    if (known.digest !== digest) throw new HostError('input_id_reused', 'this id was used before, for something else');
    return { ...(await known.outcome), isRepeated: true };
  }

  #first(inputId: string, digest: string, type: () => Promise<Sent>): Promise<Sent> {
    const remembered: Remembered = { digest, outcome: type(), isSettled: false };
    this.#byId.set(inputId, remembered);
    remembered.outcome.then(
      (sent) => {
        remembered.sent = sent;
        remembered.isSettled = true;
      },
      (error: { readonly code?: unknown }) => {
        remembered.isSettled = true;
        if (nothingWritten.has(error.code)) this.#byId.delete(inputId);
      },
    );
    this.#forgetOldest();
    return remembered.outcome;
  }

  /** What is still being typed is kept: whoever asked for it waits, and may be about to ask again. */
  #forgetOldest(): void {
    for (const [inputId, { isSettled }] of this.#byId) {
      if (this.#byId.size <= this.#max) return;
      if (isSettled) this.#byId.delete(inputId);
    }
  }
}
