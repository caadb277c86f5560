/** How a recovery ends an old worker and what it launched: by orders that a repeat finds given, and by waiting for facts. */
import { assessOwnership } from '../../../machines/assessment.ts';
import type { FencedWorker } from '../../../machines/recoveryFenceParts.ts';
import { intact } from '../../runtime/actorAccess.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { draft } from '../../runtime/submission.ts';
import { awaitScopes } from '../commands/waiting.ts';
import { runtimeIdOf } from './workerLaunch.ts';

type Parts = Pick<Runtime, 'host' | 'store' | 'config' | 'leaving'>;

const by = 'recovery';

/** From now on the record says why this worker is not relied upon any more. A damaged one takes nothing (OWN-10). */
export async function endWorker(
  { host, store }: Parts,
  { incarnationId }: Pick<FencedWorker, 'incarnationId'>,
  attempts: number,
): Promise<void> {
  if (intact(host, 'workerIncarnation', incarnationId) === 'corrupt') return;
  const to = ['workerIncarnation', incarnationId] as const;
  const payload = { reason: 'recovery', fenceId: runtimeIdOf(store) as string };
  const eventId = `${store.installationId}:wst:${incarnationId}:${attempts}`;
  await host.submit([draft('worker.stopRequested', { to, payload, by, eventId })]);
}

/**
 * Asks for the end of these scopes and waits until each is proved or has visibly come to a halt. One whose record is damaged
 * is ordered in vain and never settles: the others are ended all the same. Throws `daemon_leaving`.
 */
export async function endScopes(parts: Parts, all: readonly string[], requestId: string): Promise<void> {
  const { host, store, config, leaving } = parts;
  const scopeIds = all.filter((scopeId) => intact(host, 'executionScope', scopeId) !== 'corrupt');
  const payload = { cause: 'recovery' as const, requestId };
  const drains = scopeIds.map((scopeId) => {
    const to = ['executionScope', scopeId] as const;
    return draft('drain.requested', { to, payload, by, eventId: `${store.installationId}:${requestId}:${scopeId}` });
  });
  await Promise.all(drains.map((drain) => host.submit([drain])));
  await awaitScopes(parts, scopeIds, config.graceMs + config.drainBudgetMs + config.handshakeMs);
  leaving.throwIfAborted();
}

export function whyNotGone({ host }: Parts, scopeId: string): string {
  const scope = intact(host, 'executionScope', scopeId);
  const assessment = scope && assessOwnership(scope);
  return assessment?.state === 'unverified' ? assessment.reason : 'drain_stalled';
}
