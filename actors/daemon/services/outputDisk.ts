/**
 * Notices that runs had no room for their output (CAP-06). They write into their files themselves, so a failed write is
 * told to them and not to us (ruling 10). What can be seen from here is that the file system was full, or that a write of
 * our own failed for that reason, while they ran: what they wrote then may be missing, so their output is not complete
 * from then on. Looked at once per observation pass, whenever the store fails, and when a root has ended. Not seen: space
 * that was gone for less than a pass, and a disk quota that lets SQLite have its reserve.
 */
import { statfsSync } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoreError } from '../../../persistence/errors.ts';
import { everyActor } from '../../runtime/actorAccess.ts';
import type { Runtime } from '../../runtime/runtime.ts';

export interface OutputDisk {
  /** Looks at the disk; when it is full, every scope that is not over is marked, and those named besides. */
  look(besides?: readonly string[]): void;
  /** What the writers of a scope ran into, in the words of the system; null when nothing was noticed. */
  faultOf(scopeId: string): Promise<string | null>;
}

type Parts = Pick<Runtime, 'host' | 'places' | 'log'> & { readonly storeFailure: () => StoreError | undefined };

/** An empty file, because a directory entry mostly fits where no block is left: it outlives this daemon. */
const markName = 'output.ENOSPC';

const fault = 'no space left on device (ENOSPC) while it ran; what was written then is missing';

export function createOutputDisk({ host, places, log, storeFailure }: Parts): OutputDisk {
  const marked = new Set<string>();

  function mark(scopeId: string): void {
    if (marked.has(scopeId)) return;
    marked.add(scopeId);
    log.warn({ scopeId }, 'no space left for the output of a run');
    void open(join(places.scopesDir, scopeId, markName), 'wx', 0o600).then(
      (file) => file.close(),
      // Without the mark this daemon still knows; only its successor would not.
      () => undefined,
    );
  }

  return {
    look(besides = []) {
      if (storeFailure()?.code !== 'store_full' && !isFull(places.scopesDir)) return;
      for (const scopeId of besides) mark(scopeId);
      for (const { id, snapshot } of everyActor(host, 'executionScope', { released: false })) {
        if (snapshot !== 'corrupt' && snapshot.context.slots !== null) mark(id);
      }
    },
    async faultOf(scopeId) {
      const isMarked = marked.has(scopeId) || (await isThere(join(places.scopesDir, scopeId, markName)));
      return isMarked ? fault : null;
    },
  };
}

/** Of the blocks that this user may have (statfs(2)): root also gets what is reserved. */
function isFull(directory: string): boolean {
  try {
    const { bavail, bfree } = statfsSync(directory);
    return (process.geteuid?.() === 0 ? bfree : bavail) === 0;
  } catch {
    return false;
  }
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );
