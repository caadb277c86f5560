/**
 * What can still be done when the guardian is gone: the recorded processes of the tree are signalled, each only while it is
 * provably the one that was recorded (GRD-11). Descendants that nobody recorded are not reached, and nothing is proved.
 */
import type { ScopeSnapshot } from '../../machines/executionScope.ts';
import { signalProcess } from '../../pty/launch/signal.ts';
import type { Runtime } from '../runtime/runtime.ts';

type Parts = Pick<Runtime, 'guardian' | 'adapter' | 'clock' | 'log' | 'leaving'>;

/**
 * SIGTERM, the grace, SIGKILL. Resolves when no recorded workload process is seen alive or everything was tried; throws
 * when the daemon leaves during the grace, and the successor begins anew.
 */
export async function endWitnesses(parts: Parts, { context }: ScopeSnapshot, untilMonoMs: () => number): Promise<void> {
  const { workload, scopeId } = context;
  if (workload === null) return;
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const sample = parts.adapter.observe(workload);
    if (sample.result !== 'alive' || !sample.signalable) return;
    const result = await signalProcess({
      guardianPath: parts.guardian.path,
      pid: workload.pid,
      start: workload.processToken,
      uid: workload.uid,
      signal,
    });
    parts.log.info({ scopeId, pid: workload.pid, signal, result }, 'signalled the root of a lost scope');
    if (result !== 'sent') return;
    if (signal === 'SIGTERM') await grace(parts, untilMonoMs, () => parts.adapter.observe(workload).result !== 'alive');
  }
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
  let end!: () => void;
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  const stopClock = clock.wakeAt(untilMonoMs, end);
  leaving.addEventListener('abort', end);
  if (!leaving.aborted) await over;
  leaving.removeEventListener('abort', end);
  stopClock();
  leaving.throwIfAborted();
}
