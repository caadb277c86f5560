/**
 * Tells when launchers have noted something, as far as the kernel tells us (inotify(7)). It may tell too often, and where
 * it tells nothing whoever asks `look` from time to time loses no note, only time.
 */
import { type FSWatcher, mkdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { listProducers } from '../../persistence/spool.ts';

/** Directories that are watched; notes of further producers wait for the next look. */
const watchedAtMost = 256;

export class SpoolWatch {
  readonly #spoolDir: string;
  readonly #onNews: () => void;
  readonly #watchers = new Map<string, FSWatcher>();

  constructor(spoolDir: string, onNews: () => void) {
    this.#spoolDir = spoolDir;
    this.#onNews = onNews;
  }

  /** Makes the spool where there is none, and watches it and every producer in it. Never throws: then only `look` tells. */
  start(): void {
    try {
      mkdirSync(this.#spoolDir, { recursive: true, mode: 0o700 });
      this.#watch(this.#spoolDir, () => this.#refresh());
      this.#refresh();
    } catch {
      this.stop();
    }
  }

  stop(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #refresh(): void {
    try {
      for (const name of listProducers(this.#spoolDir).names.slice(0, watchedAtMost))
        this.#watch(join(this.#spoolDir, name), this.#onNews);
    } catch {
      // A spool that is not ours is refused, with its reason, by whoever takes notes in.
    }
    this.#onNews();
  }

  #watch(directory: string, onChange: () => void): void {
    if (this.#watchers.has(directory)) return;
    const watcher = watch(directory, onChange);
    watcher.on('error', () => {
      watcher.close();
      this.#watchers.delete(directory);
    });
    this.#watchers.set(directory, watcher);
  }
}
