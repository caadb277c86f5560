/** Runs: listing, waiting and stopping. A stop names what was observed, never what was wished. */
import { assessOwnership } from '../../../machines/assessment.ts';
import type { ScopeSnapshot } from '../../../machines/executionScope.ts';
import { resolveRun } from '../../ingest/namedRuns.ts';
import { everyActor, required, resolveId, warningsOf } from '../../runtime/actorAccess.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import { assertAccepted, draft } from '../../runtime/submission.ts';
import type { ParsedArguments } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { EventView, RunView, StopView } from '../api/views.ts';
import type { Answer, DaemonContext } from '../context.ts';
import { eventViews } from '../views/eventView.ts';
import { rootScopeOf, runDetailView, runFacts, runView, withSessions } from '../views/runView.ts';
import { requestKey, wasApplied } from './requestIds.ts';
import { isDrained, reached } from './waiting.ts';

export async function listRuns(
  context: DaemonContext,
  args: ParsedArguments<'runs.list'>,
): Promise<Answer<CallResults['runs.list']>> {
  const link =
    args.goalId === undefined ? undefined : { name: 'goalId', value: resolveId(context.store, 'goal', args.goalId) };
  const runs: ReturnType<typeof runFacts>[] = [];
  const corrupt: string[] = [];
  for (const { id, snapshot } of everyActor(context.host, 'run', { newestFirst: true, ...(link ? { link } : {}) })) {
    if (runs.length === args.limit) break;
    if (snapshot === 'corrupt') {
      corrupt.push(id);
      continue;
    }
    const view = runFacts(context, id);
    const isActive = !snapshot.hasTag('terminal') || (view.scope !== null && view.scope.state !== 'exited');
    const isUnresolved = snapshot.matches({ lifecycle: { reserved: 'unresolved' } });
    if ((!args.active || isActive) && (!args.unresolved || isUnresolved)) runs.push(view);
  }
  return { data: { runs: withSessions(context, runs) }, warnings: warningsOf('run', corrupt) };
}

export async function showRun(
  context: DaemonContext,
  args: ParsedArguments<'runs.show'>,
): Promise<Answer<CallResults['runs.show']>> {
  return { data: await runDetailView(context, resolveRun(context.store, args.id)) };
}

/** Throws `wait_timed_out` (exit 14) or `daemon_leaving` (exit 10). A proof that cannot come without a person is said at once, with exit code 5. */
export async function waitForRun(
  context: DaemonContext,
  args: ParsedArguments<'runs.wait'>,
  signal: AbortSignal,
): Promise<Answer<RunView>> {
  const runId = resolveRun(context.store, args.id);
  const waitMs = args.waitMs ?? Number.POSITIVE_INFINITY;
  const scope = rootScopeOf(context, required(context.host, 'run', runId));
  const isGap = (snapshot: ScopeSnapshot) =>
    assessOwnership(snapshot).state === 'unverified' && snapshot.matches({ coverage: { unverified: 'gap' } });
  const arrived =
    args.until === 'proved' && scope !== undefined
      ? await reached(context, ['executionScope', scope.context.scopeId], {
          waitMs,
          signal,
          isReached: (now) => now.hasTag('capacityReleased') || isGap(now),
        })
      : await reached(context, ['run', runId], { waitMs, signal, isReached: (run) => run.hasTag('terminal') });
  if (!arrived) {
    context.leaving.throwIfAborted();
    throw new OperatingError({
      code: 'wait_timed_out',
      message: `${runId} is not ${args.until} yet`,
      exitCode: 14,
      retryable: true,
      next: [`custody runs show ${runId}`],
      details: { runId },
    });
  }
  const isOver =
    scope === undefined || required(context.host, 'executionScope', scope.context.scopeId).hasTag('capacityReleased');
  // Whoever waited for the end is told who goes on without the root.
  const view = runView(context, runId, isOver ? undefined : await context.guardians.members(scope.context.scopeId));
  return { data: view, exitCode: args.until === 'proved' && view.scope?.state === 'unverified' ? 5 : 0 };
}

export async function stopRun(context: DaemonContext, args: ParsedArguments<'runs.stop'>): Promise<Answer<StopView>> {
  const { host, store, clock, config } = context;
  const runId = resolveRun(store, args.id);
  const scope = rootScopeOf(context, required(host, 'run', runId));
  if (scope === undefined || scope.context.controller !== null)
    throw new OperatingError({
      code: 'not_controller',
      message: `${runId} was not launched by Custody`,
      exitCode: 4,
      next: [`custody runs show ${runId}`],
    });
  const { scopeId, graceMs, budgetMs } = scope.context;
  const startedMonoMs = clock.monoMs();
  const key = requestKey(store.installationId, 'runs.stop', args.requestId);
  const isRepeat = wasApplied(host, key, ['executionScope', scopeId]);
  if (!scope.hasTag('capacityReleased')) {
    const bounds = {
      ...(args.graceMs === undefined ? {} : { graceMs: args.graceMs }),
      ...(args.budgetMs === undefined ? {} : { budgetMs: args.budgetMs }),
    };
    const payload = { cause: 'stop' as const, requestId: key.requestId, ...bounds };
    const outcomes = await host.submit([
      draft('drain.requested', { to: ['executionScope', scopeId], payload, by: 'operator', eventId: key.eventId }),
    ]);
    assertAccepted(outcomes, [`custody runs show ${runId}`]);
    // The chart is busy with the first order already; a grace that is shorter now is the guardian's to know (D10).
    if (args.graceMs !== undefined && outcomes[0]?.outcome === 'noop')
      await context.drains.shorten({ scopeId, graceMs: args.graceMs, budgetMs: args.budgetMs ?? budgetMs });
  }
  const budget = (args.graceMs ?? graceMs) + (args.budgetMs ?? budgetMs) + config.responseMs + 2_000;
  await reached(context, ['executionScope', scopeId], { waitMs: args.waitMs ?? budget, isReached: isDrained });
  const after = required(host, 'executionScope', scopeId);
  const elapsedMs = Math.round(clock.monoMs() - startedMonoMs);
  const assessment = assessOwnership(after);
  const outcome = scope.hasTag('capacityReleased') && !isRepeat ? 'already_ended' : outcomeOf(after);
  const data = { runId, scopeId, outcome, assessment, elapsedMs };
  return { data, warnings: stallOf(context, after), exitCode: assessment.state === 'exited' ? 0 : 5 };
}

/** Why an ordered end came to a halt: the drain executor said so, and the snapshot keeps only that it did. */
function stallOf({ store }: DaemonContext, scope: ScopeSnapshot): readonly string[] {
  if (!scope.matches({ termination: 'stalled' })) return [];
  const actor = { kind: 'executionScope' as const, id: scope.context.scopeId };
  const [last] = eventViews(
    (['drain.inspectionFailed', 'drain.budgetExhausted'] as const).flatMap((type) =>
      store.journal.page({ actor, type, limit: 1, newestFirst: true }),
    ),
  ).sort((one, other) => other.position - one.position);
  if (last === undefined) return [];
  return [`the end of ${actor.id} stalled: ${whyStalled(last)}`];
}

function whyStalled({ type, payload }: EventView): string {
  if (type !== 'drain.budgetExhausted') return `inspection failed (${payload.reasonCode})`;
  const guardians = Object.keys((payload.guardians as Record<string, string> | undefined) ?? {});
  const nested = guardians.length === 0 ? '' : `; nested guardians have not ended: ${guardians.join(', ')}`;
  return `its budget ran out${nested}`;
}

function outcomeOf(after: ScopeSnapshot): string {
  const assessment = assessOwnership(after);
  if (assessment.state === 'exited') return assessment.proof === 'never_launched' ? 'never_launched' : 'proved';
  if (assessment.state === 'unverified') return 'stopped_unverified';
  return after.matches({ termination: 'stalled' }) ? 'stalled' : 'draining';
}
