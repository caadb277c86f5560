/** How much lies in the spool, and since when (METR-01): by looking at names and sizes, and reading no note. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { listProducers } from './spool.ts';
import { namesIn, withProducer } from './spoolFiles.ts';
import { noteName, readNames } from './spoolNames.ts';

export interface SpoolBacklog {
  /** Of all files in it; null where they are too many to look at each. */
  readonly bytes: number | null;
  /** When the oldest note was written that nobody has taken in, wall time in ms; null where none waits. */
  readonly oldestWallMs: number | null;
}

/** What a look may cost: some ten milliseconds. A spool that is full of notes still says since when. */
const filesAtMost = 10_000;

/** `takenOf` says how far a stream is taken in. Throws SpoolError. */
export function spoolBacklog(spoolDir: string, takenOf: (producer: string, stream: string) => number): SpoolBacklog {
  let bytes: number | null = 0;
  let left = filesAtMost;
  let oldestWallMs: number | null = null;
  for (const producer of listProducers(spoolDir).names) {
    withProducer(spoolDir, producer, (directory) => {
      const names = namesIn(directory);
      left -= names.length;
      if (left < 0) bytes = null;
      else for (const name of names) bytes = (bytes ?? 0) + (look(directory.path, name)?.size ?? 0);
      for (const [stream, { present }] of readNames(names).streams) {
        const taken = takenOf(producer, stream);
        // Numbers are given out one after the other, so the lowest is the oldest.
        const first = present.reduce((low, seq) => (seq > taken ? Math.min(low, seq) : low), Number.POSITIVE_INFINITY);
        const writtenMs = Number.isFinite(first) ? look(directory.path, noteName(stream, first))?.mtimeMs : undefined;
        if (writtenMs !== undefined) oldestWallMs = Math.min(oldestWallMs ?? writtenMs, writtenMs);
      }
    });
  }
  return { bytes, oldestWallMs };
}

/** Undefined for what was taken in meanwhile. */
function look(directory: string, name: string): { readonly size: number; readonly mtimeMs: number } | undefined {
  return lstatSync(join(directory, name), { throwIfNoEntry: false });
}
