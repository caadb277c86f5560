import { lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';

export interface Found {
  readonly path: string;
  readonly info: Stats;
}

/** Everything below a directory, the directory itself included; what vanishes while it is listed is left out. */
export function* everyFile(path: string): Generator<Found> {
  const info = lstatSync(path, { throwIfNoEntry: false });
  if (info === undefined) return;
  yield { path, info };
  if (!info.isDirectory()) return;
  for (const name of namesIn(path)) yield* everyFile(join(path, name));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Nothing of a file that has vanished since it was listed. */
export function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
