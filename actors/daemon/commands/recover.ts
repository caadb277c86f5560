/** Shows how the scheduling worker is replaced and why it may not be; asked to, it tries again at once (REC-05). */
import { waitFor } from 'xstate';
import { committed } from '../../runtime/actorAccess.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { RecoverView, ScopeView } from '../api/views.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { scopeView } from '../views/scopeView.ts';
import { rescan } from '../worker/ownedByWorkers.ts';
import { runtimeIdOf } from '../worker/workerLaunch.ts';

/** More than a stop, a rescan, a launch and the first tick take together on a machine that is not stuck. */
const defaultWaitMs = 30_000;

/** Throws `recovery_refused` (exit 6) with what is in the way, `fence_busy` (exit 7), `wait_timed_out` (exit 14). */
export async function recover(
  context: DaemonContext,
  { now, waitMs = defaultWaitMs }: ParsedArguments<'recover'>,
): Promise<Answer<RecoverView>> {
  if (now) await attempt(context, waitMs);
  const data = await viewOf(context);
  return { data, exitCode: data.blockers.some(({ assessment }) => assessment.state === 'unverified') ? 5 : 0 };
}

async function attempt(context: DaemonContext, waitMs: number): Promise<void> {
  const { workers, exclusive, clock } = context;
  const { driver } = workers;
  // Whoever holds it is at work on the very thing; a second one would not make it quicker (REC-01).
  if (exclusive.holder !== undefined) exclusive.hold('recover');
  const attempts = driver.fence?.context.attempts ?? 0;
  const untilMonoMs = clock.monoMs() + waitMs;
  if (!(await within(context, driver.askFor(), waitMs))) throw timedOut(waitMs);
  if (driver.fence === undefined) return;
  const after = await settled(context, { attempts, waitMs: Math.max(0, untilMonoMs - clock.monoMs()) });
  if (after === 'refused') throw refused(await viewOf(context));
  if (after === 'pending') throw timedOut(waitMs);
}

/** False when it is not over in time; it goes on then. */
function within({ clock }: DaemonContext, work: Promise<void>, waitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const stop = clock.wakeAt(clock.monoMs() + waitMs, () => resolve(false));
    void work.then(() => {
      stop();
      resolve(true);
    });
  });
}

/** Refused anew, that is: after the attempt that was asked for. */
async function settled(
  { host, store, leaving }: DaemonContext,
  { attempts, waitMs }: { readonly attempts: number; readonly waitMs: number },
): Promise<'idle' | 'refused' | 'pending'> {
  const actor = host.actor('recoveryFence', runtimeIdOf(store));
  const isOver = (snapshot: { matches(state: string): boolean; context: { attempts: number } }) =>
    snapshot.matches('idle') || (snapshot.matches('refused') && snapshot.context.attempts > attempts);
  try {
    const over = await waitFor(actor, isOver as never, { timeout: waitMs, signal: leaving });
    return over.matches('idle' as never) ? 'idle' : 'refused';
  } catch {
    leaving.throwIfAborted();
    return 'pending';
  }
}

async function viewOf(context: DaemonContext): Promise<RecoverView> {
  const worker = context.workers.view();
  const { pending, unverified } = rescan(context);
  const blockers: ScopeView[] = [];
  for (const scopeId of [...unverified, ...pending]) {
    const scope = committed(context.host, 'executionScope', scopeId);
    if (scope === undefined || (scopeId === worker.scopeId && worker.recovery.phase === 'idle')) continue;
    blockers.push(scopeView(context, scope, await context.guardians.members(scopeId)));
  }
  return { worker, blockers, explanation: explanationOf(worker, blockers.length) };
}

function explanationOf({ wanted, state, recovery }: RecoverView['worker'], blockers: number): string {
  if (!wanted && state === 'none')
    return 'nothing is configured that a worker would be there for (custody config, checks)';
  switch (recovery.phase) {
    case 'idle':
      return state === 'ticking' ? 'the worker is at work; there is nothing to recover' : `the worker is ${state}`;
    case 'refused':
      return blockers === 0
        ? 'no replacement was launched; the next attempt finds nothing in its way'
        : `no replacement is launched while ${blockers} scope(s) of earlier workers are not proved to be gone: only an exit receipt, the receipt of an enclosing scope, or a reboot proves that`;
    case 'unreadable':
      return 'the record of how the worker is replaced is damaged, so nobody can tell whether one may be launched';
    case 'launchPermitted':
      return 'everybody is proved to be gone; a worker is launched as soon as one is wanted';
    default:
      return `a recovery is in progress (${recovery.phase})`;
  }
}

const refused = ({ worker, blockers, explanation }: RecoverView): OperatingError =>
  new OperatingError({
    code: 'recovery_refused',
    message: explanation,
    exitCode: 6,
    retryable: true,
    next: ['custody processes', 'custody doctor'],
    details: {
      reason: worker.recovery.evidence.at(-1)?.reason ?? null,
      scopeIds: blockers.map(({ scopeId }) => scopeId),
    },
  });

const timedOut = (waitMs: number): OperatingError =>
  new OperatingError({
    code: 'wait_timed_out',
    message: `the recovery is not over after ${waitMs} ms; it goes on`,
    exitCode: 14,
    retryable: true,
    next: ['custody recover --explain', 'custody status'],
  });
