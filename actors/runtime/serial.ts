/** Runs jobs of one key one after the other; a failed job does not stop the next. */
export class Serial {
  readonly #last = new Map<string, Promise<unknown>>();

  run<T>(key: string, job: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(job, job);
    const settled = mine.catch(() => undefined);
    this.#last.set(key, settled);
    void settled.then(() => this.#last.get(key) === settled && this.#last.delete(key));
    return mine;
  }
}
