/**
 * What the daemon answers: plain JSON shapes, shared by the command line, the demo and later the browser. Times in
 * milliseconds, sizes in bytes, digests lowercase hex SHA-256, ids opaque (section F of the contract).
 */
import type { WorkerHealth } from '../../../machines/workerHealth.ts';
import type { ApiError } from '../../runtime/operatingError.ts';

export type { ApiError };

export type Reply<Data> =
  | {
      readonly ok: true;
      readonly command: string;
      readonly data: Data;
      readonly warnings: readonly string[];
      readonly health?: HealthView;
      readonly journalPosition: number;
      /** 0, or 5 when the command was done but ownership of something stays unverified. */
      readonly exitCode: number;
    }
  | { readonly ok: false; readonly command: string; readonly error: ApiError };

export type HealthState = 'ok' | 'unresponsive' | 'ownership_unverified' | 'degraded';

/** The one health value that status, processes, doctor and recover show (REC-08). */
export interface HealthView {
  readonly state: HealthState;
  /** SHA-256 over the state, whom each reason names and what to do, in canonical form: the same in every view of one moment. */
  readonly digest: string;
  readonly reasons: readonly FindingView[];
  readonly next: readonly string[];
}

export interface FindingView {
  readonly code: string;
  readonly scopeId?: string;
  readonly runId?: string;
  readonly pid?: number;
  readonly since?: number;
  readonly detail: string;
  readonly next: readonly string[];
}

export type AssessmentView =
  | { readonly state: 'live' }
  | { readonly state: 'exited'; readonly proof: string }
  | {
      readonly state: 'unverified';
      readonly certainty: 'transient' | 'gap';
      readonly reason: string;
      /** Who answers for it that nobody of it is left, although nothing proves that. */
      readonly assumed?: { readonly by: string; readonly because: string; readonly atWallMs: number };
    };

export interface ProcessView {
  readonly pid: number;
  readonly state: string;
  readonly ppid?: number;
  /** Command name as the kernel has it, with everything unprintable escaped; never the command line. */
  readonly name?: string;
}

/** What runs on this machine at this moment that has to do with this installation, besides the members of its scopes. */
export interface CensusView {
  readonly infrastructure: readonly { readonly what: 'daemon' | 'terminals' | 'worker'; readonly pid: number }[];
  /** Proof of nothing: they look like work of a scope and are in the tree of none. */
  readonly escapees: readonly EscapeeView[];
  readonly escapeesTotal: number;
  /** Processes of this user that were looked into. */
  readonly looked: number;
  /** False when some of them did not let themselves be looked into, or there were too many. */
  readonly complete: boolean;
}

export interface EscapeeView {
  readonly pid: number;
  readonly ppid: number;
  readonly name?: string;
  /** The scope that its environment names. */
  readonly scopeId: string | null;
  /** The worktree that its working directory lies in. */
  readonly generationId: string | null;
}

export interface ScopeView {
  readonly scopeId: string;
  readonly kind: 'guardian' | 'effect' | 'external';
  readonly purpose: string | null;
  /** The scope that it is nested in. */
  readonly parentScopeId: string | null;
  readonly runId: string | null;
  readonly generationId: string | null;
  readonly goalId: string | null;
  readonly assessment: AssessmentView;
  readonly coverage: string;
  readonly workload: string;
  readonly termination: string;
  /** "root ended, tree not drained" and the like: one line for people. */
  readonly summary: string;
  readonly holdsSlot: boolean;
  readonly guardianPid: number | null;
  readonly workloadPid: number | null;
  readonly unresponsiveSince: number | null;
  /** Programs in its recipe that hand work to somebody outside its tree (GRD-12). */
  readonly delegators: readonly string[];
  readonly members: readonly ProcessView[] | null;
  readonly membersTotal: number | null;
  readonly receipts: { readonly start: boolean; readonly status: boolean; readonly exit: boolean };
}

/** The scheduling worker and how far its replacement has come (WRK-06, REC-05). */
export interface WorkerView {
  /** Whether anything is configured that a worker is there for. */
  readonly wanted: boolean;
  readonly state: 'none' | WorkerHealth;
  readonly incarnationId: string | null;
  readonly scopeId: string | null;
  readonly pid: number | null;
  /** Since its last sign of life; null before the first that this daemon has heard. */
  readonly tickAgeMs: number | null;
  /** Why no worker can reach this daemon, as the system says it; null where it can. */
  readonly doorTrouble: string | null;
  /** Goals whose check could not be begun; at most eight. */
  readonly heldBack: readonly { readonly goalId: string; readonly reason: string; readonly retryInMs: number }[];
  readonly recovery: {
    readonly phase: string;
    /** Why the last recovery began. */
    readonly reason: string | null;
    readonly attempts: number;
    readonly retryInMs: number | null;
    /** Why it came no further, newest last. */
    readonly evidence: readonly {
      readonly phase: string;
      readonly reason: string;
      readonly scopeIds: readonly string[];
    }[];
  };
}

/** A pass of recovery, and what keeps a worker from being replaced. */
export interface RecoverView {
  readonly worker: WorkerView;
  /** Scopes of the worker, of earlier ones and of what they launched that are not proved to be gone. */
  readonly blockers: readonly ScopeView[];
  readonly explanation: string;
}

export interface StatusView {
  readonly health: HealthView;
  readonly worker: WorkerView;
  readonly capacity: { readonly used: number; readonly limit: number; readonly scopeIds: readonly string[] };
  readonly admission: 'open' | 'paused' | 'closed';
  /** Where the daemon stands in its own life (C.9): `serving`, `draining`, `drainBlocked` and the like. */
  readonly lifecycle: string;
  readonly counts: {
    readonly goals: Readonly<Record<string, number>>;
    readonly runs: { readonly active: number; readonly unresolved: number };
    readonly worktrees: Readonly<Record<string, number>>;
    readonly scopes: { readonly live: number; readonly unverified: number };
  };
  /** The worst of what `custody coverage` says of worktrees; `incomplete` as long as any gap is open. */
  readonly coverageClass: 'guarded' | 'best_effort' | 'incomplete';
  readonly daemon: {
    readonly pid: number;
    readonly version: string;
    readonly startNumber: number;
    readonly uptimeMs: number;
    /** Scopes of earlier daemons that this one found alive at its start. */
    readonly adopted: number;
  };
}

/** A terminal session: three facts about its end that do not imply each other (PTY-01), and what its host says of it now. */
export interface SessionView {
  readonly sessionId: string;
  readonly runId: string;
  readonly scopeId: string;
  readonly goalId: string | null;
  readonly label: string | null;
  readonly workload: string;
  readonly capture: string;
  readonly scope: string;
  readonly cols: number;
  readonly rows: number;
  /** Bytes of output that are stored. */
  readonly bytes: number;
  /** Milliseconds since the last output; null where nobody can tell. */
  readonly quietMs: number | null;
  readonly viewers: number;
  readonly result: RunView['result'];
  /** Digest of a structured result that counts: valid, behind an authentic status, before any failure. */
  readonly structured: string | null;
  readonly firstFailure: { readonly cause: string; readonly reason: string } | null;
  readonly faults: readonly { readonly cause: string; readonly reason: string }[];
  readonly interrupted: boolean;
  /** Why output is missing, where it is. */
  readonly missing: string | null;
  readonly transcriptDir: string;
  /** Where the holder of the terminal listens; null once it holds it no more. */
  readonly hostSocket: string | null;
  readonly guardianPid: number | null;
  readonly workloadPid: number | null;
}

/** What a person would see, as text. */
export interface ScreenTextView {
  readonly sessionId: string;
  readonly offset: number;
  readonly cols: number;
  readonly rows: number;
  readonly lines: readonly string[];
  /** Column and row, counted from zero. */
  readonly cursor: { readonly x: number; readonly y: number; readonly visible: boolean };
  readonly title: string;
}

export interface RepositoryView {
  readonly repoId: string;
  readonly path: string;
  readonly commonGitDir: string;
  readonly addedAt: number;
}

export interface GoalView {
  readonly goalId: string;
  readonly title: string;
  readonly repoId: string | null;
  readonly status: string;
  readonly nodeId: string;
  readonly priority: number;
  readonly revision: number;
  readonly round: number;
  readonly occurrence: number;
  readonly boundary: number;
  readonly integration: string;
  readonly convergence: string;
  readonly eligible: boolean;
  readonly reason: string;
  /** The newest check of the step that the Goal is in, and what is known of it; null where there was none. */
  readonly check: GoalCheckView | null;
}

export interface GoalCheckView {
  readonly runId: string;
  readonly verdict: 'accepted' | 'failed' | null;
  /** Why it ended without a verdict, such as `check_deadline`; null while it is running, or has given one. */
  readonly reason: string | null;
}

export interface GoalDetailView extends GoalView {
  readonly rounds: readonly { readonly index: number; readonly requestDigest: string }[];
  readonly runs: readonly string[];
  readonly worktrees: readonly string[];
  /** Present with `--evidence` or `--history`. */
  readonly evidence?: {
    readonly receipts: readonly unknown[];
    readonly late: readonly unknown[];
    readonly claims: readonly unknown[];
  };
  readonly history?: readonly EventView[];
}

export interface BlockerView {
  readonly code: string;
  readonly detail: string;
  readonly runId?: string;
  readonly scopeId?: string;
  readonly holders?: readonly ProcessView[];
}

export interface WorktreeView {
  readonly generationId: string;
  readonly path: string;
  readonly branch: string | null;
  readonly baseCommit: string | null;
  readonly goalId: string | null;
  readonly repoId: string | null;
  readonly lifecycle: string;
  readonly authority: string;
  readonly controller: string;
  readonly origin: string;
  readonly authorityEpoch: number;
  readonly ownershipEpoch: number;
  readonly sealEpoch: number | null;
  readonly runs: readonly {
    readonly runId: string;
    readonly state: string;
    readonly scopes: Readonly<Record<string, string>>;
  }[];
  /** Some of the runs that others launched there; `worktrees show` has the newest 100, with those that have ended. */
  readonly noted: readonly { readonly runId: string; readonly state: string; readonly origin: string }[];
  /** All of them. */
  readonly notedCounts: { readonly active: number; readonly ended: number; readonly cancelled: number };
  readonly coverageGaps: number;
  readonly contract: string | null;
  /** Counts every change of the record; a decision may name the one that it was made on. */
  readonly version: number;
  /** What the present control rests on. */
  readonly evidence: readonly string[];
  /** Control is on its way to somebody else; `waitsFor` is what has to be settled before. */
  readonly handoff: { readonly to: string; readonly waitsFor: readonly BlockerView[] } | null;
  /** What was found at the path when somebody last looked. */
  readonly pathObservation: string | null;
}

/** A ticket as it is handed over. The secret is in `ticket` alone, and in the file. */
export interface TicketView {
  readonly ticketId: string;
  readonly generationId: string;
  readonly sealEpoch: number;
  readonly authorityEpoch: number;
  readonly executor: string;
  readonly file: string;
  /** Ids of the tickets for the same seal that count no more. */
  readonly superseded: readonly string[];
  readonly ticket: Readonly<Record<string, unknown>>;
}

export interface CaptureView {
  /** A terminal is one stream, recorded in its session's transcript. */
  readonly stream: 'stdout' | 'stderr' | 'terminal';
  readonly bytes: number;
  /** True once the scope is proved exited: nobody is left who could write. */
  readonly complete: boolean;
  readonly reason: string | null;
}

export interface RunView {
  readonly runId: string;
  /** `producer:run`, what its launcher calls it; null for one of ours, and where nobody told. */
  readonly launcher: string | null;
  readonly label: string | null;
  readonly goalId: string | null;
  readonly generationId: string | null;
  readonly scopeId: string | null;
  /** Its terminal, where it runs in one. */
  readonly sessionId: string | null;
  readonly epoch: number | null;
  readonly mode: string;
  readonly state: string;
  readonly result: {
    readonly how: string;
    readonly code: number | null;
    readonly signal: number | null;
    readonly errno: number | null;
  } | null;
  readonly end: { readonly evidence: string; readonly reason: string; readonly eventId: string } | null;
  readonly scope: AssessmentView | null;
  /** As they were when the gate opened; null before that. */
  readonly guardianPid: number | null;
  readonly workloadPid: number | null;
  readonly summary: string;
}

/** OBS-10: four things that are never merged. */
export interface RunDetailView extends RunView {
  readonly launcherFacts: Readonly<Record<string, unknown>>;
  readonly observations: Readonly<Record<string, unknown>>;
  readonly derived: Readonly<Record<string, unknown>>;
  readonly hypothetical: Readonly<Record<string, unknown>>;
  readonly capture: readonly CaptureView[];
  readonly receipts: readonly ReceiptView[];
}

export interface ReceiptView {
  readonly kind: 'start' | 'status' | 'exit';
  readonly status: 'absent' | 'authentic' | 'not_authentic';
  readonly reason?: string;
  readonly digest?: string;
  readonly receipt?: Readonly<Record<string, unknown>>;
}

export interface StopView {
  readonly runId: string;
  readonly scopeId: string;
  /** What was observed, not what was wished: proved, never_launched, draining, stalled, already_ended. */
  readonly outcome: string;
  readonly assessment: AssessmentView;
  readonly elapsedMs: number;
}

export interface EventView {
  readonly position: number;
  readonly eventId: string;
  readonly type: string;
  readonly actor: { readonly kind: string; readonly id: string };
  readonly producer: { readonly kind: string; readonly id: string };
  readonly outcome: string;
  readonly version: number;
  readonly wallMs: number;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface CheckView {
  readonly id: string;
  readonly ok: boolean;
  readonly severity: 'info' | 'warning' | 'error';
  readonly detail: string;
  readonly fix: string | null;
}

/** One of the containment battery: its claim in words, and how long it took. */
export interface ContainmentCheckView extends CheckView {
  readonly claim: string;
  readonly ms: number;
}

export interface ConfigValueView {
  readonly name: string;
  readonly value: number | string | boolean | readonly string[] | Readonly<Record<string, readonly string[]>> | null;
  readonly origin: 'default' | 'file' | 'environment';
  readonly unit: string | null;
  readonly description: string;
}

/** Who is in a directory, or in the way otherwise. */
export interface HolderView {
  readonly pid: number;
  readonly name?: string;
  /** How it has to do with the directory: `cwd`, `root`, `open`, `mapped`; absent for members of scopes. */
  readonly holds?: readonly string[];
}

/** What stands between a worktree and its removal: a stable code, a sentence, and what it was seen by. */
export interface PredictedFactView {
  readonly code: string;
  readonly detail: string;
  /**
   * What the fact is about, where that has a name (runs, scopes, gaps, commits), and then the looks that showed it
   * (`look:…`), of which every prediction has new ones.
   */
  readonly evidenceIds: readonly string[];
  readonly runId?: string;
  readonly scopeId?: string;
  readonly holders?: readonly HolderView[];
  /** Examples, a few of them; `count` is exact. */
  readonly named?: readonly string[];
  readonly count?: number;
}

/** Hypothetical cleanup eligibility of one generation (WT-06): nothing is moved by it, and it holds for its moment only. */
export interface PredictionView {
  readonly generationId: string;
  readonly path: string;
  readonly lifecycle: string;
  readonly authority: string;
  /** No fact protects the worktree. */
  readonly eligible: boolean;
  readonly blockers: readonly PredictedFactView[];
  /** What would have to be decided before: somebody else is in control, and what is theirs is not closed. */
  readonly steps: readonly PredictedFactView[];
  readonly content: {
    readonly head: string | null;
    /** Null when the head is detached, or could not be read. */
    readonly branch: string | null;
    /** Where everything that was committed here is kept as well, and how that was found out. */
    readonly kept: { readonly how: 'reachable' | 'patches' | 'squash' | 'merge'; readonly in: string } | null;
    /** Files and directories that git ignores; null when that was not found out. */
    readonly ignored: number | null;
  };
  /** Null when nobody looked. */
  readonly processes: {
    readonly looked: number;
    /** Processes of this user, and of others, that could not be looked into. */
    readonly unseenOwn: number;
    readonly unseenOthers: number;
    readonly statement: string;
  } | null;
  readonly atWallMs: number;
  readonly elapsedMs: number;
  readonly looks: readonly { readonly evidenceId: string; readonly what: string }[];
  /** Whether the prediction was journaled: only in observe mode, and not when nothing has changed. */
  readonly recorded: 'recorded' | 'unchanged' | 'not_observed';
}
