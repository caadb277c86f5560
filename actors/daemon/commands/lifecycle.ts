/** Stopping the daemon, pausing admission, and copying the store. */
import { everyActor } from '../../runtime/actorAccess.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { draft } from '../../runtime/submission.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { admissionOf } from '../root.ts';
import { requestKey } from './requestIds.ts';
import { awaitScopes } from './waiting.ts';

export interface Shutdown {
  /** Lets the process end once this call has been answered. */
  readonly leave: () => void;
}

/**
 * Drains everything that is owned, then lets the daemon go (SHUT-06). With anything live or unverified left it stays,
 * says what, and launches nothing until admission is resumed. `keepWork` ends the daemon alone (ruling 21).
 */
export async function stopDaemon(
  context: DaemonContext & Shutdown,
  args: ParsedArguments<'daemon.stop'>,
): Promise<Answer<CallResults['daemon.stop']>> {
  if (args.keepWork) {
    context.leave();
    return { data: { stopped: true, settled: [], blocked: [] } };
  }
  const { root } = context;
  const release = context.exclusive.hold('daemon stop');
  root.send({ type: 'shutdown.requested' });
  try {
    const data = await drainAll(context, args);
    await context.sessions.dismissHost();
    root.send({ type: 'drain.completed' });
    context.leave();
    return { data };
  } catch (error) {
    root.send({ type: 'drain.failed' });
    root.send({ type: 'shutdown.abandoned' });
    throw error;
  } finally {
    release();
  }
}

/** Throws `drain_blocked`, or what keeps the drains from being asked for. */
async function drainAll(
  context: DaemonContext,
  args: ParsedArguments<'daemon.stop'>,
): Promise<CallResults['daemon.stop']> {
  const { host, store, config, pendingLaunches, leaving } = context;
  const key = requestKey(store.installationId, 'daemon.stop', args.requestId);
  // Admission is closed by now. What it let pass before is waited for: until it is committed nobody could find it.
  await pendingLaunches.reserved();
  const owned = ownedScopes(context);
  const payload = { cause: 'shutdown' as const, requestId: key.requestId };
  const drains = owned.map((scopeId) =>
    draft('drain.requested', {
      to: ['executionScope', scopeId],
      payload,
      by: 'shutdown',
      eventId: `${key.eventId}:${scopeId}`,
    }),
  );
  await Promise.all(drains.map((drain) => host.submit([drain])));
  await awaitScopes(context, owned, config.shutdownBudgetMs);
  leaving.throwIfAborted();
  const blocked = ownedScopes(context);
  const settled = owned.filter((scopeId) => !blocked.includes(scopeId));
  if (blocked.length === 0) return { stopped: true, settled, blocked };
  throw new OperatingError({
    code: 'drain_blocked',
    message: `the daemon stays: ${blocked.length} scope(s) are not proved to be gone`,
    exitCode: 6,
    retryable: true,
    next: ['custody processes', 'custody daemon stop --keep-work', 'custody resume'],
    details: { settled, blocked },
  });
}

const ownedScopes = ({ host }: DaemonContext): string[] =>
  [...everyActor(host, 'executionScope', { released: false })].map(({ id }) => id);

const pauseRow = 'admission.paused';

/** The pause is a row, so that it outlives the daemon. */
export const isPausedBefore = ({ store }: Pick<DaemonContext, 'store'>): boolean => store.meta.get(pauseRow) === 'yes';

export async function pause(context: DaemonContext): Promise<Answer<{ admission: string }>> {
  context.store.write(() => context.store.meta.set(pauseRow, 'yes'));
  context.root.send({ type: 'admission.paused' });
  return { data: { admission: admissionOf(context.root) } };
}

export async function resume(context: DaemonContext): Promise<Answer<{ admission: string }>> {
  context.store.write(() => context.store.meta.remove(pauseRow));
  context.root.send({ type: 'admission.resumed' });
  return { data: { admission: admissionOf(context.root) } };
}

export async function backup(
  { store }: DaemonContext,
  args: ParsedArguments<'backup'>,
): Promise<Answer<CallResults['backup']>> {
  const report = await store.backup(args.to);
  return { data: { path: args.to, bytes: report.bytes, epoch: store.epoch } };
}
