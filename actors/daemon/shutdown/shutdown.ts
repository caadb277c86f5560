/**
 * Stop and restart, asked for directly or through the service manager: one drain, and only when it has proved everything
 * does anybody end this process (SHUT-05, SHUT-06). With anything left the daemon stays and says what, in `drainBlocked`.
 */
import { randomUUID } from 'node:crypto';
import { StoreError } from '../../../persistence/errors.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { type RequestKey, requestKey } from '../commands/requestIds.ts';
import type { DaemonContext } from '../context.ts';
import { lifecycleOf, type ShutdownIntent } from '../root.ts';
import { callServiceManager } from '../service/manager.ts';
import { drainBlocked, type Ended, endOwned, ownedScopes } from './endOwned.ts';
import { forgetIntent, openIntent, recordIntent } from './intent.ts';

export interface Shutdown {
  /** Lets the process end, with this exit status, once the call that asks for it has been answered. */
  readonly leave: (status?: number) => void;
}

type Context = DaemonContext & Shutdown;

export interface StopOutcome extends Ended {
  /** The service manager was told, and starts the successor of a restart. */
  readonly isLeftToService: boolean;
  readonly warnings: readonly string[];
}

/** Throws `drain_blocked`, `fence_busy`, and what keeps the drains from being asked for; the daemon stays then. */
export async function shutDown(context: Context, intent: ShutdownIntent, key: RequestKey): Promise<StopOutcome> {
  const { root, sessions, exclusive, clock, config } = context;
  // Given back when the stop is blocked. One that succeeds keeps it: nothing is to be replaced in what leaves.
  const release = await exclusive.holdAfterRecovery(`daemon ${intent.verb}`, {
    clock,
    withinMs: config.shutdownBudgetMs,
  });
  root.send({ type: 'shutdown.requested', intent });
  let ended: Ended;
  try {
    ended = await drain(context, intent, key);
  } catch (error) {
    release();
    throw error;
  }
  await sessions.dismissHost();
  forget(context);
  const outcome = await handOver(context, intent);
  context.leave();
  return { ...ended, ...outcome };
}

/** Admission is closed until somebody decides: to leave the work alone, or to launch again. */
const waysOut = ['custody daemon stop --keep-work', 'custody resume'];

async function drain(context: Context, intent: ShutdownIntent, key: RequestKey): Promise<Ended> {
  const { root, store, config } = context;
  let ended: Ended;
  try {
    recordIntent(store, intent);
    ended = await endOwned(context, {
      key,
      waitMs: config.shutdownBudgetMs,
      onSettled: () => root.send({ type: 'drain.workersSettled' }),
    });
  } catch (error) {
    const reason = error instanceof OperatingError ? error.code : 'internal_error';
    root.send({ type: 'drain.failed', failure: { reason, scopeIds: ownedScopes(context) } });
    throw error;
  }
  root.send({ type: 'ownership.rescanned', blocked: ended.blocked });
  if (lifecycleOf(root) !== 'drained') throw drainBlocked(context, ended, { what: 'the daemon stays', waysOut });
  return ended;
}

/** A row that cannot be removed makes the successor look once more for what is not there. */
function forget({ store, log }: Context): void {
  try {
    forgetIntent(store);
  } catch (error) {
    log.error({ code: (error as { code?: unknown }).code }, 'the record of the stop stays');
  }
}

/** Called in `drained` only. A service manager that does not take the order changes nothing about the end of this process. */
async function handOver(
  { root, config, service, log }: Context,
  { verb, via }: ShutdownIntent,
): Promise<Pick<StopOutcome, 'isLeftToService' | 'warnings'>> {
  if (via === 'direct') {
    root.send({ type: 'daemon.exited' });
    return { isLeftToService: false, warnings: [] };
  }
  const { refusal } = await callServiceManager(config.serviceManager, [verb, '--no-block', service.unit]);
  root.send({ type: refusal === undefined ? 'service.commandIssued' : 'daemon.exited' });
  if (refusal === undefined) return { isLeftToService: verb === 'restart', warnings: [] };
  log.error({ refusal }, 'the service manager did not take the order');
  return { isLeftToService: false, warnings: [`the service manager did not take the order: ${refusal}`] };
}

/**
 * Takes up the stop of a daemon that did not live to see its end; true when there is one. It is served meanwhile, so that
 * everybody sees what it waits for; with everything proved this daemon leaves, as the other one was told to.
 */
export function takeUpShutdown(context: Context): boolean {
  const { store, log } = context;
  const intent = intentOf(context);
  if (intent === undefined) return false;
  if (ownedScopes(context).length === 0) {
    forget(context);
    return false;
  }
  log.warn(intent, 'a stop was interrupted: it goes on');
  const key = requestKey(store.installationId, 'daemon.stop', randomUUID());
  shutDown(context, intent, key).catch((error: unknown) =>
    log.error({ code: (error as { code?: unknown }).code }, 'the stop that goes on is blocked'),
  );
  return true;
}

/** A record that cannot be read keeps nobody from looking after the work: the stop can be asked for again. */
function intentOf({ store, log }: Context): ShutdownIntent | undefined {
  try {
    return openIntent(store);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    log.error({}, 'the record of a stop cannot be read; the stop is not taken up');
    return undefined;
  }
}
