/** Which handler answers which call. The type makes a call without a handler a compile error. */

import { OperatingError } from '../runtime/operatingError.ts';
import type { CallName, ParsedArguments, StreamName } from './api/contract.ts';
import type { CallResults } from './api/results.ts';
import type { Reply } from './api/views.ts';
import { recordAcceptance } from './commands/acceptance.ts';
import { needInput, ownGoal, passBoundary, reportResult } from './commands/agent.ts';
import { assumeEnded } from './commands/assumeEnded.ts';
import { measureBudgets, setBudgets, showBudgets } from './commands/budgets.ts';
import { runResult, waitForCapturedRun } from './commands/capture.ts';
import { compareOutcomes, triageDisagreement } from './commands/comparison.ts';
import { execRun } from './commands/exec.ts';
import { explainActor } from './commands/explain.ts';
import { addGoal, cancelGoal, listGoals, queueGoal, showGoal } from './commands/goals.ts';
import { closeInspector, openInspector } from './commands/inspect.ts';
import { followEvents, listEvents } from './commands/journal.ts';
import { backup, drainWork, pause, resume, stopDaemon } from './commands/lifecycle.ts';
import { runLogs } from './commands/logs.ts';
import {
  observeAccount,
  observeCoverage,
  observeExposition,
  observeImport,
  observeMetrics,
  observeProgress,
  observeReconcile,
  observeSpool,
  observeStatusNow,
  observeTake,
} from './commands/observe.ts';
import { predictWorktree } from './commands/predict.ts';
import { promote, showPromotion } from './commands/promotion.ts';
import { recover as recoverNow } from './commands/recover.ts';
import { addRepository, listRepositories } from './commands/repositories.ts';
import { checkpointJournal, forgetEventIds, retireArtifacts } from './commands/retention.ts';
import { listRuns, showRun, stopRun } from './commands/runs.ts';
import { sessionResult } from './commands/sessionResult.ts';
import {
  listSessions,
  resizeSession,
  screenOfSession,
  sendToSession,
  showSession,
  waitForSession,
} from './commands/sessions.ts';
import { processes, status } from './commands/status.ts';
import { changeAuthority } from './commands/worktreeAuthority.ts';
import { registerWorktree } from './commands/worktreeRegistration.ts';
import { issueTicket, retireWorktree } from './commands/worktreeRetirement.ts';
import { addWorktree, closeWorktree, listWorktrees, sealWorktree, showWorktree } from './commands/worktrees.ts';
import type { Answer, DaemonContext } from './context.ts';
import { tellGenerations } from './contract/record.ts';
import { verifyContract } from './contract/verify.ts';
import { diagnoseOnline } from './doctor.ts';
import { healthOf } from './health.ts';
import type { RecoveryCounts } from './recovery.ts';
import type { Shutdown } from './shutdown/shutdown.ts';

export type ServingContext = DaemonContext & Shutdown & { readonly recovered: RecoveryCounts };

/** `signal` says that whoever asked has left: a wait ends then, a decision is carried out all the same. */
type Handler<Args, Data> = (context: ServingContext, args: Args, signal: AbortSignal) => Promise<Answer<Data>>;

type Handlers = {
  readonly [Name in CallName]: Handler<ParsedArguments<Name>, CallResults[Name]>;
};

interface Asked {
  readonly args: unknown;
  readonly signal: AbortSignal;
}

const handlers: Handlers = {
  status,
  processes,
  'sessions.list': listSessions,
  'sessions.show': showSession,
  'sessions.result': sessionResult,
  'sessions.send': sendToSession,
  'sessions.resize': resizeSession,
  'sessions.screen': screenOfSession,
  'sessions.wait': waitForSession,
  'agent.result': reportResult,
  'agent.needInput': needInput,
  'agent.boundary': passBoundary,
  'agent.goal': ownGoal,
  'repos.add': addRepository,
  'repos.list': listRepositories,
  'goals.add': addGoal,
  'goals.list': listGoals,
  'goals.show': showGoal,
  'goals.queue': queueGoal,
  'goals.cancel': cancelGoal,
  'worktrees.add': addWorktree,
  'worktrees.list': listWorktrees,
  'worktrees.show': showWorktree,
  'worktrees.close': closeWorktree,
  'worktrees.seal': sealWorktree,
  'worktrees.register': registerWorktree,
  'worktrees.authority': changeAuthority,
  'worktrees.ticket': issueTicket,
  'worktrees.retire': retireWorktree,
  'worktrees.predict': predictWorktree,
  'runs.exec': execRun,
  'runs.list': listRuns,
  'runs.show': showRun,
  'runs.wait': waitForCapturedRun,
  'runs.result': runResult,
  'runs.stop': stopRun,
  events: listEvents,
  explain: explainActor,
  doctor: async (context) => ({ data: { checks: await diagnoseOnline(context) } }),
  config: async ({ loadedConfig }) => ({ data: { values: loadedConfig.values, file: loadedConfig.file } }),
  backup,
  'journal.checkpoint': checkpointJournal,
  'journal.forgetIds': forgetEventIds,
  'artifacts.retire': retireArtifacts,
  pause,
  resume,
  'contract.verify': verify,
  recover: recoverNow,
  drain: drainWork,
  'recover.assumeEnded': assumeEnded,
  'daemon.stop': stopDaemon,
  'observe.progress': observeProgress,
  'observe.take': observeTake,
  'observe.account': observeAccount,
  'observe.import': observeImport,
  'observe.takeSpool': observeSpool,
  'observe.reconcile': observeReconcile,
  'observe.status': observeStatusNow,
  'observe.coverage': observeCoverage,
  'observe.metrics': observeMetrics,
  'observe.exposition': observeExposition,
  'promote.show': showPromotion,
  'promote.to': promote,
  'promote.budgets': showBudgets,
  'promote.measure': measureBudgets,
  'promote.setBudgets': setBudgets,
  'promote.compare': compareOutcomes,
  'promote.triage': triageDisagreement,
  'acceptance.record': recordAcceptance,
  'inspect.open': openInspector,
  'inspect.close': closeInspector,
};

async function verify(context: ServingContext): Promise<Answer<CallResults['contract.verify']>> {
  const { store, guardian, places, clock, adapter, leaving } = context;
  const { wallMs } = clock.now();
  const data = await verifyContract({
    store,
    guardian,
    stateDir: places.stateDir,
    wallMs,
    subset: 'full',
    adapter,
    leaving,
  });
  if (!data.passed)
    throw new OperatingError({
      code: 'contract_failed',
      message: 'containment cannot be proved on this host',
      exitCode: 8,
      next: ['custody doctor'],
      details: { checks: data.checks },
    });
  await tellGenerations(context);
  return { data };
}

/** Calls that show health beside their data; the others do not pay for computing it. */
const showsHealth: ReadonlySet<string> = new Set(['status', 'processes', 'doctor', 'recover']);

export async function dispatch(
  context: ServingContext,
  command: string,
  { args, signal }: Asked,
): Promise<Reply<unknown>> {
  const handler = handlers[command as CallName] as Handler<unknown, unknown>;
  const { data, warnings = [], exitCode = 0 } = await handler(context, args, signal);
  const journalPosition = context.store.journal.lastPosition();
  return {
    ok: true,
    command,
    data,
    warnings,
    ...(showsHealth.has(command) ? { health: healthOf(context) } : {}),
    journalPosition,
    exitCode,
  };
}

export function openStream(context: ServingContext, name: StreamName, { args, signal }: Asked): AsyncIterable<unknown> {
  return name === 'runs.logs'
    ? runLogs(context, args as Parameters<typeof runLogs>[1], signal)
    : followEvents(context, args as Parameters<typeof followEvents>[1], signal);
}
