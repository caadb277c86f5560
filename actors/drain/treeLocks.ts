/**
 * One lock for the ends of trees, whoever asks for them (SHUT-09). Two trees overlap when one scope lies inside the other:
 * the guardian of the outer one tells the inner one to end, and what either has frozen the other must not wake or kill on
 * its own. So the later order waits until the earlier one is over. Scopes side by side do not wait for each other.
 *
 * The queue is memory. What it orders are effects of the outbox, which a daemon that starts takes up in the order of their
 * commits, so that its successor's queue is the same.
 */
import { deferred } from '../runtime/deferred.ts';

interface Entry {
  readonly scopeId: string;
  /** The scope and everything around it. */
  readonly path: ReadonlySet<string>;
  readonly over: Promise<void>;
}

const overlap = (one: Entry, other: Entry): boolean => one.path.has(other.scopeId) || other.path.has(one.scopeId);

export class TreeLocks {
  readonly #entries = new Set<Entry>();

  /**
   * Runs `work` once no earlier entry overlaps. `path` begins with the scope itself and goes outwards. Each waits for
   * earlier ones only, so that nobody waits in a circle. Throws what `work` throws, or `leaving`'s reason while it waits.
   */
  async during<T>(path: readonly string[], leaving: AbortSignal, work: () => Promise<T>): Promise<T> {
    const over = deferred<void>();
    const entry: Entry = { scopeId: path[0] ?? '', path: new Set(path), over: over.promise };
    const earlier = [...this.#entries].filter((other) => overlap(entry, other));
    this.#entries.add(entry);
    try {
      await unlessAborted(leaving, Promise.all(earlier.map((other) => other.over)));
      return await work();
    } finally {
      this.#entries.delete(entry);
      over.resolve();
    }
  }
}

async function unlessAborted(signal: AbortSignal, wait: Promise<unknown>): Promise<void> {
  const aborted = deferred<void>();
  const stop = () => aborted.resolve();
  signal.addEventListener('abort', stop);
  if (!signal.aborted) await Promise.race([wait, aborted.promise]);
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
}
