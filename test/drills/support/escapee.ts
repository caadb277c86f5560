/** The escapee of drill D1: a child in a session of its own that ignores hang-up, holds the streams open and goes on working. */
import { statSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { TestDaemon } from '../../support/daemon.ts';

export interface Escapee {
  readonly script: string;
  /** It appends a line here every 100 ms. */
  readonly ticks: string;
}

/** A root that leaves with `status` as soon as its child has ticked once. */
export function escapee(daemon: TestDaemon, { name = 'ticks', status = 0 } = {}): Escapee {
  const ticks = join(daemon.home.dir, name);
  const up = join(daemon.home.dir, `${name}.up`);
  const loop = `trap "" HUP; echo tick >> "${ticks}"; echo up > "${up}"; while sleep 0.1; do echo tick >> "${ticks}"; done`;
  return { ticks, script: `mkfifo "${up}"; setsid sh -c '${loop}' & read line < "${up}"; exit ${status}` };
}

/** Resolves with the next change of a file, as the kernel announces it. */
export function nextChange(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const watcher = watch(path, () => {
      watcher.close();
      resolve();
    });
    watcher.on('error', reject);
  });
}

/** Counts the changes of a file from now on. */
export function changes(path: string): { readonly count: () => number; close(): void } {
  let count = 0;
  const watcher = watch(path, () => {
    count += 1;
  });
  return { count: () => count, close: () => watcher.close() };
}

export const sizeOf = (path: string): number => statSync(path).size;
