/** The data of each call's reply, by command name. */
import type { Comparison } from '../../../persistence/tables/comparisons.ts';
import type { LegacyAnswer } from '../../ingest/legacy/decision.ts';
import type { TakenNote } from '../../ingest/sink.ts';
import type { SpoolReport } from '../../ingest/takeSpool.ts';
import type { MetricsReport } from '../../metrics/report.ts';
import type { CoverageReport } from '../../reconcile/coverage.ts';
import type { ReconcileReport } from '../../reconcile/observer.ts';
import type { ObserveStatus } from '../../reconcile/status.ts';
import type { ExplainedView } from './explanationViews.ts';
import type {
  AcceptanceView,
  BudgetView,
  ComparingView,
  PromotionChangeView,
  PromotionView,
} from './promotionViews.ts';
import type { ArtifactsView, CheckpointView } from './retentionViews.ts';
import type {
  AssessmentView,
  CaptureView,
  CensusView,
  CheckView,
  ConfigValueView,
  ContainmentCheckView,
  EventView,
  GoalDetailView,
  GoalView,
  PredictionView,
  RecoverView,
  RepositoryView,
  RunDetailView,
  RunView,
  ScopeView,
  ScreenTextView,
  SessionView,
  StatusView,
  StopView,
  TicketView,
  WorktreeView,
} from './views.ts';

export interface CallResults {
  readonly explain: ExplainedView;
  readonly status: StatusView;
  readonly 'repos.add': RepositoryView;
  readonly 'repos.list': { readonly repositories: readonly RepositoryView[] };
  readonly 'goals.add': GoalView;
  readonly 'goals.list': { readonly goals: readonly GoalView[] };
  readonly 'goals.show': GoalDetailView;
  readonly 'goals.queue': DecisionResult;
  readonly 'goals.cancel': DecisionResult & {
    readonly scopes: readonly { readonly scopeId: string; readonly assessment: AssessmentView }[];
  };
  readonly 'worktrees.add': WorktreeView;
  readonly 'worktrees.list': { readonly worktrees: readonly WorktreeView[] };
  readonly 'worktrees.show': WorktreeView;
  readonly 'worktrees.close': WorktreeView;
  readonly 'worktrees.seal': WorktreeView;
  readonly 'worktrees.register': WorktreeView & { readonly isNew: boolean };
  readonly 'worktrees.authority': WorktreeView;
  readonly 'worktrees.ticket': TicketView;
  readonly 'worktrees.retire': WorktreeView;
  readonly 'worktrees.predict': PredictionView;
  readonly 'runs.exec': RunView & {
    readonly launch: { readonly steps: readonly { readonly step: string; readonly ms: number }[] };
  };
  readonly 'runs.list': { readonly runs: readonly RunView[] };
  readonly 'runs.show': RunDetailView;
  readonly 'runs.wait': RunView & { readonly capture: readonly CaptureView[] };
  readonly 'runs.result': {
    readonly runId: string;
    readonly stream: 'stdout' | 'stderr';
    readonly bytes: number;
    readonly value: unknown;
  };
  readonly 'runs.stop': StopView;
  readonly recover: RecoverView;
  readonly 'sessions.list': { readonly sessions: readonly SessionView[] };
  readonly 'sessions.show': SessionView;
  readonly 'sessions.result': { readonly sessionId: string; readonly digest: string; readonly text: string };
  readonly 'sessions.send': { readonly sessionId: string; readonly bytes: number; readonly bracketed: boolean };
  readonly 'sessions.resize': { readonly sessionId: string; readonly cols: number; readonly rows: number };
  readonly 'sessions.screen': ScreenTextView;
  readonly 'sessions.wait': SessionView;
  readonly 'agent.result': { readonly sessionId: string; readonly digest: string };
  readonly 'agent.needInput': { readonly sessionId: string; readonly state: string };
  readonly 'agent.boundary': {
    readonly goalId: string;
    readonly status: string;
    readonly occurrence: number;
    readonly round: number;
    readonly boundary: string;
  };
  readonly 'agent.goal': GoalDetailView;
  /** `census` is null unless it was asked for. */
  readonly processes: { readonly scopes: readonly ScopeView[]; readonly census: CensusView | null };
  readonly events: { readonly events: readonly EventView[]; readonly nextPosition: number };
  readonly doctor: { readonly checks: readonly CheckView[] };
  readonly config: { readonly values: readonly ConfigValueView[]; readonly file: string };
  readonly backup: { readonly path: string; readonly bytes: number; readonly epoch: number };
  readonly 'recover.assumeEnded': {
    readonly scopeId: string;
    readonly goalId: string | null;
    readonly assessment: AssessmentView;
    /** Null where the scope had no worktree. `to` is null where the worktree was not there any more. */
    readonly quarantine: {
      readonly generationId: string;
      readonly from: string;
      readonly to: string | null;
      readonly gitMetadata: 'repaired' | 'left' | 'none';
    } | null;
  };
  readonly 'contract.verify': {
    readonly contract: string;
    readonly batteryVersion: number;
    readonly subset: 'short' | 'full';
    readonly passed: boolean;
    readonly checks: readonly ContainmentCheckView[];
    readonly doesNotCover: readonly string[];
  };
  readonly 'journal.checkpoint': CheckpointView;
  readonly 'journal.forgetIds': {
    readonly dryRun: boolean;
    /** The oldest start of the daemon whose event ids are known from now on. */
    readonly horizon: { readonly epoch: number; readonly startNumber: number };
    readonly forgotten: number;
  };
  readonly 'artifacts.retire': ArtifactsView;
  readonly pause: { readonly admission: string };
  readonly resume: { readonly admission: string };
  readonly drain: DrainResult;
  readonly 'daemon.stop': DrainResult & {
    readonly stopped: boolean;
    readonly via: 'direct' | 'service';
    /** The successor of a restart is started by the service manager. */
    readonly isLeftToService: boolean;
  };
  readonly 'observe.progress': { readonly taken: number };
  readonly 'observe.take': { readonly outcomes: readonly TakenNote[] };
  readonly 'observe.account': { readonly lost: number };
  readonly 'observe.import': { readonly answers: readonly LegacyAnswer[] };
  readonly 'observe.takeSpool': SpoolReport;
  readonly 'observe.reconcile': ReconcileReport;
  readonly 'observe.status': ObserveStatus;
  readonly 'observe.coverage': CoverageReport;
  readonly 'observe.metrics': MetricsReport;
  readonly 'observe.exposition': { readonly text: string };
  readonly 'promote.show': PromotionView;
  readonly 'promote.to': PromotionChangeView;
  readonly 'promote.budgets': { readonly budgets: readonly BudgetView[] };
  readonly 'promote.measure': { readonly budgets: readonly BudgetView[] };
  readonly 'promote.setBudgets': { readonly budgets: readonly BudgetView[] };
  readonly 'promote.compare': ComparingView;
  readonly 'promote.triage': Comparison;
  readonly 'acceptance.record': AcceptanceView;
  readonly 'inspect.open': {
    /** Counts once, and for `expiresMs`. */
    readonly url: string;
    readonly expiresMs: number;
    /** For clients of the Stately inspection protocol. */
    readonly inspectionUrl: string;
    readonly tcpPort: number;
    readonly control: boolean;
    readonly wasOpen: boolean;
  };
  readonly 'inspect.close': { readonly closed: boolean };
}

/** Scopes by what became of them. */
export interface DrainResult {
  readonly settled: readonly string[];
  /** Launched by others: those that they had registered have ended, and nothing proves that nobody is left (SHUT-07). */
  readonly unverified: readonly string[];
  readonly blocked: readonly string[];
  /** Somebody answers for these: nobody was asked to end them, and nothing is proved. */
  readonly assumed: readonly string[];
}

export interface DecisionResult {
  readonly goalId: string;
  readonly outcome: string;
  readonly status: string;
  readonly occurrence: number;
  readonly boundary: number;
  readonly revision: number;
}
