/**
 * Whether a worker is alive to its task, from its record, its last tick and a time that was read after both (WRK-06).
 * A tick that was never journaled counts as well: the newest one is a row of its own.
 */
import type { Payload } from './events/catalogue.ts';
import type { WorkerContext } from './workerIncarnationContext.ts';

export type Tick = Readonly<Payload<'scheduler.tick'>>;

/** Which comparison a tick failed (WRK-02). */
export type TickFault =
  | 'not_registered_worker'
  | 'other_incarnation'
  | 'other_runtime'
  | 'other_registration'
  | 'other_token'
  | 'other_process'
  | 'other_node'
  | 'repeated';

/** Undefined for a tick of this very worker. The target is left out: an exact tick may be about an earlier one. */
export function tickFault(worker: WorkerContext, tick: Tick, lastSeq = worker.tick.seq): TickFault | undefined {
  if (!tick.isRegisteredPeer) return 'not_registered_worker';
  if (tick.incarnationId !== worker.incarnationId) return 'other_incarnation';
  if (tick.runtimeId !== worker.runtimeId) return 'other_runtime';
  if (tick.registrationId !== worker.registrationId) return 'other_registration';
  if (tick.launchTokenHash !== worker.launchTokenHash) return 'other_token';
  if (worker.process === null || !isSameWorker(worker.process, tick.process)) return 'other_process';
  if (tick.nodeId !== worker.nodeId) return 'other_node';
  return tick.seq > lastSeq ? undefined : 'repeated';
}

type WorkerProcess = Tick['process'];

/** Stricter than for processes of others: both records are Custody's own, so every field has to agree. */
const isSameWorker = (recorded: WorkerProcess, named: WorkerProcess): boolean =>
  (Object.keys(recorded) as (keyof WorkerProcess)[]).every((field) => recorded[field] === named[field]);

export type WorkerHealth =
  | 'starting'
  | 'ticking'
  | 'draining-old-target'
  | 'target-changed'
  | 'stalled'
  | 'unavailable';

export interface HealthBasis {
  /** Null where there is none, and where it is proved to be gone: its record alone does not say that. */
  readonly worker: WorkerContext | null;
  /** The newest exact tick, or null before the first. */
  readonly lastTick: Pick<Tick, 'targetId' | 'sampledAt' | 'completedCycle'> | null;
  /** Read after the two above: a tick can be younger than it, never a stale one. */
  readonly now: Tick['sampledAt'];
}

/** TIME-03: a time of another boot is no time at all, so nothing is concluded from its distance. */
export function workerHealth({ worker, lastTick, now }: HealthBasis): WorkerHealth {
  if (worker === null || worker.reason !== null) return 'unavailable';
  const since = lastTick?.sampledAt ?? worker.since;
  if (since.bootId !== now.bootId) return 'unavailable';
  const limitMs = lastTick === null ? worker.startupMs : worker.silenceMs;
  if (now.monoMs - since.monoMs >= limitMs) return 'stalled';
  if (lastTick === null) return 'starting';
  if (lastTick.targetId === worker.targetId) return 'ticking';
  return lastTick.completedCycle ? 'target-changed' : 'draining-old-target';
}
