/** Passes on the first of a burst at once and the last of it when `everyMs` have gone by; a burst of one arms no timer twice. */
export class Coalesced<Value> {
  readonly #everyMs: number;
  readonly #pass: (value: Value) => void;
  #timer: NodeJS.Timeout | undefined;
  #held: { readonly value: Value } | undefined;

  constructor(everyMs: number, pass: (value: Value) => void) {
    this.#everyMs = everyMs;
    this.#pass = pass;
  }

  put(value: Value): void {
    if (this.#timer !== undefined) {
      this.#held = { value };
      return;
    }
    this.#pass(value);
    this.#timer = setTimeout(() => this.#elapsed(), this.#everyMs);
  }

  #elapsed(): void {
    this.#timer = undefined;
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.put(held.value);
  }

  /** Passes on what is held; nothing is pending afterwards. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#pass(held.value);
  }
}
