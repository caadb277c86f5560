/** Stopping the daemon, draining without stopping it, pausing admission, and copying the store. */
import { OperatingError } from '../../runtime/operatingError.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { admissionOf, lifecycleOf, type ShutdownIntent } from '../root.ts';
import { unitState } from '../service/place.ts';
import { drainBlocked, type Ended, endOwned } from '../shutdown/endOwned.ts';
import { forgetIntent } from '../shutdown/intent.ts';
import { type Shutdown, shutDown } from '../shutdown/shutdown.ts';
import { startAgainStatus } from '../shutdown/startAgain.ts';
import { requestKey } from './requestIds.ts';

/**
 * Drains everything that is owned, then lets the daemon go (SHUT-06). With anything live or unverified left it stays and
 * says what; nothing is launched until the stop is repeated or given up. `keepWork` ends the daemon alone (ruling 21).
 */
export async function stopDaemon(
  context: DaemonContext & Shutdown,
  args: ParsedArguments<'daemon.stop'>,
): Promise<Answer<CallResults['daemon.stop']>> {
  const intent = { verb: args.verb, via: viaOf(context, args.via) };
  if (args.keepWork) return leaveWorkAlone(context, intent);
  const key = requestKey(context.store.installationId, 'daemon.stop', args.requestId);
  const { settled, unverified, assumed, isLeftToService, warnings } = await shutDown(context, intent, key);
  const data = { stopped: true, settled, unverified, blocked: [], assumed, via: intent.via, isLeftToService };
  return { data, warnings, exitCode: assumed.length > 0 ? 5 : 0 };
}

/** Throws `no_service` (exit 8) when a service manager is meant and there is none. */
function viaOf({ service }: DaemonContext, asked: ShutdownIntent['via'] | undefined): ShutdownIntent['via'] {
  if (asked !== 'service' || service.isServed || unitState(service.unitFile) === 'ours')
    return asked ?? (service.isServed ? 'service' : 'direct');
  throw new OperatingError({
    code: 'no_service',
    message: `this daemon was started by no service manager, and there is no ${service.unitFile} of ours`,
    exitCode: 8,
    next: ['custody service install', 'repeat the command with --via direct'],
  });
}

/**
 * The service manager is not called: it might end more than this process. It starts a daemon again that has ended by
 * itself with the status that its unit file names.
 */
function leaveWorkAlone(
  { store, service, leave }: DaemonContext & Shutdown,
  { verb, via }: ShutdownIntent,
): Answer<CallResults['daemon.stop']> {
  const isLeftToService = verb === 'restart' && via === 'service' && service.isServed;
  forgetIntent(store);
  leave(isLeftToService ? startAgainStatus : 0);
  return { data: { stopped: true, settled: [], unverified: [], blocked: [], assumed: [], via, isLeftToService } };
}

/** The same drain for a daemon that stays. Nothing is admitted meanwhile; afterwards admission is what it was. */
export async function drainWork(
  context: DaemonContext,
  args: ParsedArguments<'drain'>,
): Promise<Answer<CallResults['drain']>> {
  const { exclusive, root, store, config, clock } = context;
  const key = requestKey(store.installationId, 'drain', args.requestId);
  const waitMs = args.waitMs ?? config.shutdownBudgetMs;
  const release = await exclusive.holdAfterRecovery('drain', { clock, withinMs: waitMs });
  root.send({ type: 'drain.started' });
  let ended: Ended;
  try {
    ended = await endOwned(context, { key, graceMs: args.graceMs, waitMs });
  } finally {
    root.send({ type: 'drain.ended' });
    release();
  }
  if (ended.blocked.length > 0) throw drainBlocked(context, ended, { what: 'not everything has ended' });
  return { data: ended, exitCode: ended.unverified.length + ended.assumed.length > 0 ? 5 : 0 };
}

const pauseRow = 'admission.paused';

/** The pause is a row, so that it outlives the daemon. */
export const isPausedBefore = ({ store }: Pick<DaemonContext, 'store'>): boolean => store.meta.get(pauseRow) === 'yes';

/** A stop that is blocked is given up by either: both say what becomes of the work instead. */
function giveUpStop({ root, store }: DaemonContext): void {
  if (lifecycleOf(root) !== 'drainBlocked') return;
  forgetIntent(store);
  root.send({ type: 'shutdown.abandoned' });
}

export async function pause(context: DaemonContext): Promise<Answer<{ admission: string }>> {
  context.store.write(() => context.store.meta.set(pauseRow, 'yes'));
  giveUpStop(context);
  context.root.send({ type: 'admission.paused' });
  return { data: { admission: admissionOf(context.root) } };
}

export async function resume(context: DaemonContext): Promise<Answer<{ admission: string }>> {
  context.store.write(() => context.store.meta.remove(pauseRow));
  giveUpStop(context);
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
