/**
 * What can still be done when the guardian is gone: the recorded processes of the tree are signalled, each only while it is
 * provably the one that was recorded (GRD-11). Descendants that nobody recorded are not reached, and nothing is proved.
 */
import type { ProcessIdentity } from '../../machines/identity.ts';
import { signalProcess } from '../../pty/launch/signal.ts';
import { deferred } from '../runtime/deferred.ts';
import type { Runtime } from '../runtime/runtime.ts';

type Parts = Pick<Runtime, 'guardian' | 'adapter' | 'clock' | 'log' | 'leaving'>;

export interface Witnesses {
  readonly scopeId: string;
  readonly processes: readonly ProcessIdentity[];
}

/**
 * SIGTERM, the grace, SIGKILL. Resolves when none of the processes is seen alive or everything was tried; throws when the
 * daemon leaves during the grace, and the successor begins anew.
 */
export async function endWitnesses(parts: Parts, witnesses: Witnesses, untilMonoMs: () => number): Promise<void> {
  let left = witnesses.processes;
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const reached: ProcessIdentity[] = [];
    for (const one of left) if (await wasSent(parts, witnesses.scopeId, { one, signal })) reached.push(one);
    left = reached;
    const areGone = () => left.every((one) => parts.adapter.observe(one).result !== 'alive');
    if (signal === 'SIGTERM') await grace(parts, untilMonoMs, areGone);
  }
}

async function wasSent(
  { adapter, guardian, log }: Parts,
  scopeId: string,
  { one, signal }: { readonly one: ProcessIdentity; readonly signal: 'SIGTERM' | 'SIGKILL' },
): Promise<boolean> {
  const sample = adapter.observe(one);
  if (sample.result !== 'alive' || !sample.signalable) return false;
  const { pid, processToken: start, uid } = one;
  const result = await signalProcess({ guardianPath: guardian.path, pid, start, uid, signal });
  log.info({ scopeId, pid, signal, result }, 'signalled a recorded process of a scope without a guardian');
  return result === 'sent';
}

/** Nobody is told when a process ends that is not our child. */
const lookMs = 50;

/** Resolves when `isOver` holds, or when the time has come; throws as soon as the daemon begins to leave. */
export async function grace(
  { clock, leaving }: Pick<Parts, 'clock' | 'leaving'>,
  untilMonoMs: () => number,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const now = clock.monoMs();
    const until = untilMonoMs();
    if (now >= until) return;
    await moment({ clock, leaving }, Math.min(now + lookMs, until));
  }
}

/** Throws as soon as the daemon begins to leave. */
async function moment({ clock, leaving }: Pick<Parts, 'clock' | 'leaving'>, untilMonoMs: number): Promise<void> {
  const over = deferred<void>();
  const end = () => over.resolve();
  const stopClock = clock.wakeAt(untilMonoMs, end);
  leaving.addEventListener('abort', end);
  if (!leaving.aborted) await over.promise;
  leaving.removeEventListener('abort', end);
  stopClock();
  leaving.throwIfAborted();
}
