/**
 * Group commit (ruling 31). A job that arrives while nothing is being written is written in this turn of the event loop;
 * what arrives during a commit, which blocks the loop, is read by the next poll and forms the next batch. Nobody waits
 * for a timer.
 */

import type { Store } from '../../persistence/store.ts';
import { SavepointNeeded } from './call.ts';
import type { Failpoint } from './failpoint.ts';
import { HostError } from './hostError.ts';
import type { Load } from './loader.ts';
import type { SnapshotCache } from './snapshotCache.ts';
import { createWorkingSet, type WorkingSet } from './workingSet.ts';

/** One thing to write. `apply` runs inside the transaction; exactly one of `settle` and `fail` follows. */
export interface Job {
  /** Weight within the batch. */
  readonly events: number;
  apply(set: WorkingSet): void;
  settle(): void;
  fail(error: unknown): void;
}

export interface Batcher {
  /** Throws HostError `host_busy` or `host_closed`. */
  enqueue(job: Job): void;
  /** Small writes of the host itself; they share a commit with whatever is waiting. */
  write(work: () => void): Promise<void>;
  close(): Promise<void>;
}

export interface BatcherParts {
  readonly store: Store;
  readonly cache: SnapshotCache;
  readonly load: Load;
  readonly batchEvents: number;
  readonly waitingCalls: number;
  readonly failpoint: (point: Failpoint) => void;
  /** Told after every commit, when the jobs have been settled. Must not throw. */
  readonly committed: (set: WorkingSet) => void;
}

export function createBatcher(parts: BatcherParts): Batcher {
  const waiting: Job[] = [];
  const idle: Array<() => void> = [];
  let scheduled = false;
  let closed = false;

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(flush);
  }

  function flush(): void {
    scheduled = false;
    const jobs = take(waiting, parts.batchEvents);
    if (jobs.length > 0) commit(parts, jobs);
    if (waiting.length > 0) schedule();
    else for (const resolve of idle.splice(0)) resolve();
  }

  function enqueue(job: Job): void {
    if (closed) throw new HostError('host_closed', 'the runtime is closing');
    if (waiting.length >= parts.waitingCalls) {
      throw new HostError('host_busy', `${waiting.length} calls are waiting to be written`);
    }
    waiting.push(job);
    schedule();
  }

  return {
    enqueue,
    write: (work) =>
      new Promise((resolve, reject) => {
        enqueue({ events: 1, apply: work, settle: resolve, fail: reject });
      }),
    close() {
      closed = true;
      return scheduled ? new Promise((resolve) => idle.push(resolve)) : Promise.resolve();
    },
  };
}

/** At least one job, and more while they fit. */
function take(waiting: Job[], batchEvents: number): Job[] {
  let count = 0;
  for (let events = 0; count < waiting.length; count += 1) {
    events += (waiting[count] as Job).events;
    if (count > 0 && events > batchEvents) break;
  }
  return waiting.splice(0, count);
}

function commit(parts: BatcherParts, jobs: readonly Job[]): void {
  const { cache, failpoint, committed } = parts;
  let set: WorkingSet;
  failpoint('before_begin');
  try {
    set = apply(parts, jobs);
  } catch (error) {
    // After a failed COMMIT nobody knows what is on the disk: whatever was believed is read again.
    cache.clear();
    for (const job of jobs) job.fail(error);
    return;
  }
  failpoint('after_commit');
  for (const loaded of set.changed()) cache.set(loaded);
  for (const job of jobs) job.settle();
  committed(set);
}

function apply(parts: BatcherParts, jobs: readonly Job[]): WorkingSet {
  try {
    return transact(parts, jobs, false);
  } catch (thrown) {
    if (thrown instanceof SavepointNeeded) return transact(parts, jobs, true);
    throw thrown;
  }
}

function transact(
  { store, cache, load, failpoint }: BatcherParts,
  jobs: readonly Job[],
  isCareful: boolean,
): WorkingSet {
  return store.write(() => {
    const lastPosition = store.journal.lastPosition();
    const set = createWorkingSet({ cache, load, lastPosition, actors: store.actors, isCareful });
    for (const job of jobs) job.apply(set);
    failpoint('before_commit');
    return set;
  });
}
