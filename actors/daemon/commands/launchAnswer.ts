/** What a launch came to, as its caller hears it: the same from the launch itself and, for a repeat, from what is recorded. */
import { getSystemErrorName } from 'node:util';
import { assessOwnership } from '../../../machines/assessment.ts';
import { intact, required } from '../../runtime/actorAccess.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import type { CallResults } from '../api/results.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { abandonedMessage, severityOf } from '../launch/launchStopped.ts';
import type { LaunchOutcome, LaunchStep } from '../launch/pendingLaunches.ts';
import { eventViews } from '../views/eventView.ts';
import { runView } from '../views/runView.ts';
import { reached } from './waiting.ts';

export interface Launched {
  readonly runId: string;
  readonly scopeId: string;
  readonly outcome: LaunchOutcome;
  readonly steps: readonly LaunchStep[];
}

/**
 * Exit code 5 where it is known already that nobody vouches for the tree (section F). Throws the operating error of a
 * launch whose image never ran.
 */
export function launchAnswer(context: DaemonContext, launched: Launched): Answer<CallResults['runs.exec']> {
  const { runId, scopeId, outcome, steps } = launched;
  if (outcome.kind !== 'released') throw failure(launched, outcome);
  const view = runView(context, runId);
  const data = { ...view, launch: { steps } };
  const doubts = [
    ...(outcome.doubt ? [`the gate of ${scopeId} was not confirmed open (${outcome.doubt}): take it as started`] : []),
    ...(view.scope?.state === 'unverified'
      ? [`the tree of ${scopeId} is not proved (${view.scope.certainty}): ${view.scope.reason}`]
      : []),
  ];
  const warnings = [...doubts, ...delegationOf(context, scopeId)];
  return { data, warnings, exitCode: doubts.length > 0 && view.scope?.state !== 'exited' ? 5 : 0 };
}

/** What the recipe names cannot be followed: whoever launches it should know before the proof is there. */
function delegationOf({ host }: DaemonContext, scopeId: string): readonly string[] {
  const scope = intact(host, 'executionScope', scopeId);
  const delegators = scope === undefined || scope === 'corrupt' ? [] : scope.context.delegators;
  if (delegators.length === 0) return [];
  return [
    `what ${delegators.join(', ')} may hand to others is not in the tree of ${scopeId}, and no proof speaks of it`,
  ];
}

/**
 * What is on record about a launch that somebody else waited for, receipts on the disk included. Where a former daemon died
 * before the release, this one is closing the gate; its word is waited for.
 */
export async function recordedOutcome(context: DaemonContext, scopeId: string): Promise<LaunchOutcome> {
  await context.receipts.look(scopeId);
  await reached(context, ['executionScope', scopeId], {
    waitMs: 2 * context.config.handshakeMs,
    isReached: (now) => now.hasTag('capacityReleased') || now.context.released !== 'no',
  });
  const scope = required(context.host, 'executionScope', scopeId);
  const { status } = scope.context;
  const assessment = assessOwnership(scope);
  if (assessment.state === 'exited' && assessment.proof === 'never_launched') return neverLaunched(context, scopeId);
  if (status?.how === 'execFailed') return { kind: 'execFailed', errno: status.errno ?? 0 };
  if (status?.how !== 'notReleased') return { kind: 'released' };
  const message = 'the guardian had given up before the gate was opened; nothing ran';
  return { kind: 'refused', code: 'not_released', message, next: ['launch again'] };
}

function neverLaunched({ store }: DaemonContext, scopeId: string): LaunchOutcome {
  const actor = { kind: 'executionScope' as const, id: scopeId };
  const last = (type: 'launch.notStarted' | 'launch.abandoned') =>
    eventViews(store.journal.page({ actor, type, limit: 1 }))[0]?.payload;
  const code = last('launch.notStarted')?.errno;
  if (typeof code === 'string')
    return { kind: 'refused', code, message: `the launch did not start (${code}); nothing ran`, next: [] };
  const reason = String(last('launch.abandoned')?.reason ?? 'never_opened');
  return { kind: 'refused', code: 'launch_abandoned', message: abandonedMessage(reason), next: [] };
}

function failure(
  { runId, scopeId }: Launched,
  outcome: Exclude<LaunchOutcome, { readonly kind: 'released' }>,
): OperatingError {
  const details = { runId, scopeId };
  if (outcome.kind === 'execFailed') {
    const { errno } = outcome;
    return new OperatingError({
      code: 'exec_failed',
      message: `the command could not be executed (${errnoName(errno)}); nothing of it ran`,
      exitCode: 13,
      next: [`custody runs show ${runId}`],
      details: { ...details, errno },
    });
  }
  const { code, message, next } = outcome;
  return new OperatingError({ code, message, ...severityOf(code), next, details });
}

/** ENOENT and the like (errno(3)); the number where the system has no name for it. */
function errnoName(errno: number): string {
  try {
    return getSystemErrorName(-errno);
  } catch {
    return `errno ${errno}`;
  }
}
