/**
 * What the inspector's page and its server say to each other: types and plain constants only, so that a browser can
 * import it. Every figure in milliseconds, bytes or journal positions; every id opaque. Nothing in here is markup: whatever
 * comes from a workload (names, paths, output) is shown as text.
 *
 * The page is opened at `/#code=…`. The code counts once and for two minutes: the page sends it to `routes.open`, gets a
 * token, keeps it in `sessionStorage` (which, unlike a cookie, other ports of this machine never see), takes the code out of
 * the address with `history.replaceState`, and sends `Authorization: Bearer TOKEN` with everything else. Streams are read
 * with `fetch`, because `EventSource` cannot send that header.
 */
import type {
  AssessmentView,
  EventView,
  FindingView,
  HealthView,
  ProcessView,
  ReceiptView,
} from '../../actors/daemon/api/views.ts';
import type { Distribution, MetricsHistory, Past, PastSeries, Unit } from '../../actors/metrics/report.ts';
import type { ActorKind } from '../../machines/ids.ts';
import type { PlacedChart } from '../diagrams/placed.ts';
import type { Explanation } from '../explain/explanation.ts';

export type { AssessmentView, EventView, FindingView, HealthView, ProcessView, ReceiptView };

/** Everything under `/api/` answers JSON or a stream, and asks for the token. `:kind`, `:id` are percent-encoded. */
export const routes = {
  /** POST {code} → Opened. The only one without a token. */
  open: '/api/open',
  /** GET → FleetAnswer. */
  fleet: '/api/fleet',
  /** GET → ActorAnswer. */
  actor: '/api/actors/:kind/:id',
  /** GET ?before=POSITION&limit=1…500 → JournalAnswer, newest first. */
  actorJournal: '/api/actors/:kind/:id/journal',
  /** GET ?position=N → MomentAnswer: the actor as it was right after that position. */
  actorMoment: '/api/actors/:kind/:id/at',
  /** GET → PlacedChart (inspect/diagrams/layout.ts); the same for a kind and version until the daemon is replaced. */
  chart: '/api/charts/:kind',
  /** GET ?after=POSITION&before=POSITION&limit=1…500[&kind=&id=][&goal=ID] → SequenceAnswer, oldest first. */
  sequence: '/api/sequence',
  /** GET [?all=1] → ProcessesAnswer: scopes that are not proved to be gone, or all of the newest. */
  processes: '/api/processes',
  /** GET → ProcessesAnswer of one scope, its receipts in full. */
  processesOfScope: '/api/processes/:id',
  /** GET → TerminalAnswer. */
  terminal: '/api/terminals/:id',
  /** GET, an event stream of TerminalMessage. */
  terminalLive: '/api/terminals/:id/live',
  /** GET → the recording as asciicast v2 text (`application/x-asciicast`). */
  terminalRecording: '/api/terminals/:id/recording',
  /** GET ?offset=BYTES or ?timeMs=MS → ScreenAnswer: what a person would have seen then. */
  terminalScreen: '/api/terminals/:id/screen',
  /** GET → TimelineAnswer. */
  timeline: '/api/goals/:id/timeline',
  /** GET ?window=1h|24h|7d → MetricsAnswer. */
  metrics: '/api/metrics',
  /** GET, an event stream of UpdateMessage; `Last-Event-ID` (or ?after=POSITION) resumes. */
  updates: '/api/updates',
  /** POST ControlRequest → ControlAnswer; refused with `read_only` unless the inspector was started with `--control`. */
  control: '/api/control',
} as const;

export interface Opened {
  readonly token: string;
  readonly control: boolean;
  readonly version: string;
}

/** The body of every answer that is not 2xx. */
export interface Refused {
  readonly error: { readonly code: string; readonly message: string; readonly next: readonly string[] };
}

export const refusals = {
  /** 401: no token, a wrong one, or a code that counts no more: open the page again with `custody inspect`. */
  unauthorised: 'unauthorised',
  /** 403: Host or Origin is not this server. */
  foreign: 'foreign_request',
  /** 403: started without `--control`. */
  readOnly: 'read_only',
  /** 400, 404, 405, 413. */
  invalid: 'invalid_arguments',
  notFound: 'not_found',
  method: 'method_not_allowed',
  tooLarge: 'too_large',
  /** 503: the daemon is leaving. */
  leaving: 'daemon_leaving',
  /** 409: its record does not match its digest. */
  corrupt: 'record_corrupt',
  /** 503: too many look at once. */
  busy: 'busy',
} as const;

// ---- fleet

/** How a process ended, as `custody runs list` words it. */
export interface Outcome {
  readonly words: string;
  readonly failed: boolean;
}

/** One of many: short, because there are ten thousand. */
export interface ActorRow {
  readonly kind: ActorKind;
  readonly id: string;
  /** Paths of the active leaf states, such as `lifecycle.bound`; a parallel machine has several. */
  readonly state: readonly string[];
  /** `active`: something is still to come. `settled`: decided. `released`: everything it stood for is given back. `corrupt`: its record does not match its digest. */
  readonly status: 'active' | 'settled' | 'released' | 'corrupt';
  /** Title of a Goal, label of a run or session, path of a worktree, purpose of a scope; null where it has none. */
  readonly label: string | null;
  readonly goalId: string | null;
  /** The root scope of a run, and of a session; null for everything else. */
  readonly scopeId: string | null;
  /** How the process of a run, scope or session ended; null while it has not, and where nobody knows. */
  readonly outcome: Outcome | null;
  /** Whether anything of it remains is not proved: the coverage of the scope, or of the run's root scope, is unverified. */
  readonly unproved: boolean;
  /** A scope of one of Custody's own short operations, such as `git worktree`. */
  readonly internal: boolean;
  /** Journal position of its newest event; 0 where the journal holds none any more. */
  readonly position: number;
  readonly version: number;
  /** Why it waits, in a few words from its own record; null where it does not. */
  readonly waits: string | null;
}

export interface FleetAnswer {
  readonly position: number;
  readonly version: string;
  readonly control: boolean;
  readonly installationId: string;
  readonly admission: 'open' | 'paused' | 'closed';
  readonly lifecycle: string;
  readonly health: HealthView;
  readonly capacity: { readonly used: number; readonly limit: number; readonly scopeIds: readonly string[] };
  readonly findings: readonly FindingView[];
  /** False while the server is still reading them in: ask again, or wait for `fleet.ready` on the updates. */
  readonly complete: boolean;
  /** Actors that are over for long, and left out because there are too many. */
  readonly omitted: number;
  readonly actors: readonly ActorRow[];
}

// ---- actor

export interface ActorLink {
  /** Such as `goal`, `root scope`, `session`, `parent scope`. */
  readonly relation: string;
  readonly kind: ActorKind;
  readonly id: string;
}

export interface EvidenceItem {
  /** Field of the context that holds it, such as `proof` or `status`. */
  readonly name: string;
  readonly value: unknown;
}

/** A snapshot as the store has it. */
export interface SnapshotView {
  readonly value: unknown;
  /** Ids of the active states of the chart (`run.lifecycle.bound`), parents included: what `Chart` calls them. */
  readonly active: readonly string[];
  readonly state: readonly string[];
  readonly tags: readonly string[];
  readonly status: string;
  readonly context: Readonly<Record<string, unknown>>;
}

export interface ActorAnswer extends SnapshotView {
  readonly kind: ActorKind;
  readonly id: string;
  readonly row: ActorRow;
  readonly version: number;
  readonly position: number;
  readonly definition: {
    readonly version: number;
    readonly structuralHash: string;
    readonly plane: 'semantic' | 'local';
  };
  /** With `next`, the allowed events and what each guard answers. */
  readonly explanation: Explanation;
  readonly links: readonly ActorLink[];
  readonly evidence: readonly EvidenceItem[];
  /** The newest events, newest first; more with `actorJournal`. */
  readonly journal: JournalAnswer;
  /** Positions between which time travel reaches. */
  readonly reach: Reach;
}

export interface JournalAnswer {
  readonly events: readonly EventView[];
  /** Pass as `before` for the next page; null at the oldest. */
  readonly before: number | null;
}

/** How far back an actor can be shown. `creation`: all of it. `cut`: retention removed what was before `from`, and nothing stands in for it. */
export interface Reach {
  readonly from: number | null;
  readonly to: number | null;
  readonly begins: 'creation' | 'cut';
  /** Events that its version counts and the journal no longer has. */
  readonly missing: number;
  readonly sentence: string;
}

export type MomentAnswer =
  | ({
      readonly known: true;
      /** The event that led here. */
      readonly event: EventView;
      readonly position: number;
      readonly version: number;
      readonly previous: number | null;
      readonly next: number | null;
      /** Id of the chart's transition that was taken (`ChartTransition.id`); null where none was, or it is not clear which. */
      readonly transitions: readonly string[];
      /** Top-level fields of the context that differ from the moment before. */
      readonly changed: readonly string[];
      /** Whether replaying to the newest position gives exactly the stored snapshot. */
      readonly provedAtHead: boolean;
      readonly reach: Reach;
    } & SnapshotView)
  | { readonly known: false; readonly position: number; readonly reason: string; readonly reach: Reach };

export type { Explanation, PlacedChart };

// ---- sequence

export interface Party {
  /** `kind/id` of an actor, or `producer:kind/id` of something outside (an operator, the daemon, a guardian). */
  readonly key: string;
  readonly kind: string;
  readonly id: string;
  readonly actor: boolean;
  readonly label: string | null;
}

export interface Message {
  readonly position: number;
  /** Keys of parties. */
  readonly from: string;
  readonly to: string;
  readonly type: string;
  readonly wallMs: number;
  readonly outcome: string;
  /** State of the receiver after it. */
  readonly state: readonly string[] | null;
  /** Position of the event that this one was relayed from, or that caused it; null where nothing says so. */
  readonly cause: number | null;
  readonly relayed: boolean;
}

export interface SequenceAnswer {
  readonly parties: readonly Party[];
  readonly messages: readonly Message[];
  /** First and last position looked at, and whether more lies beyond on either side. */
  readonly from: number;
  readonly to: number;
  readonly moreBefore: boolean;
  readonly moreAfter: boolean;
}

// ---- processes

export interface ScopeTree {
  readonly scopeId: string;
  readonly kind: string;
  readonly purpose: string | null;
  readonly parentScopeId: string | null;
  readonly runId: string | null;
  readonly goalId: string | null;
  readonly generationId: string | null;
  readonly summary: string;
  readonly assessment: AssessmentView;
  readonly coverage: string;
  readonly workload: string;
  readonly termination: string;
  readonly holdsSlot: boolean;
  readonly guardianPid: number | null;
  readonly workloadPid: number | null;
  readonly unresponsiveSince: number | null;
  /** As the kernel shows them now, `ppid` ties them together; null where the guardian could not be asked. */
  readonly members: readonly ProcessView[] | null;
  readonly membersTotal: number | null;
  readonly receipts: readonly ReceiptView[] | null;
  /** Sentences: what is proved of this scope, and what is missing for a proof. */
  readonly proved: readonly string[];
  readonly missing: readonly string[];
}

export interface ProcessesAnswer {
  readonly position: number;
  /** Monotone clock of the machine when the kernel was asked. */
  readonly atWallMs: number;
  readonly scopes: readonly ScopeTree[];
  readonly health: HealthView;
  /** More scopes than are shown. */
  readonly more: boolean;
}

// ---- terminal

export interface TerminalAnswer {
  readonly sessionId: string;
  readonly runId: string;
  readonly scopeId: string;
  readonly goalId: string | null;
  readonly label: string | null;
  readonly state: readonly string[];
  readonly cols: number;
  readonly rows: number;
  readonly bytes: number;
  readonly live: boolean;
  /** Why output is missing, where it is. */
  readonly missing: string | null;
  readonly recorded: boolean;
  readonly durationMs: number | null;
}

/** Event names of the stream of a terminal, one JSON object each. */
export type TerminalMessage =
  /** First, and after a gap: bytes that paint the screen as it is at `offset`. */
  | {
      readonly type: 'screen';
      readonly offset: number;
      readonly cols: number;
      readonly rows: number;
      readonly base64: string;
    }
  | { readonly type: 'output'; readonly offset: number; readonly base64: string }
  | { readonly type: 'resized'; readonly offset: number; readonly cols: number; readonly rows: number }
  /** This viewer was too slow, or output was lost: a `screen` follows. */
  | { readonly type: 'gap'; readonly from: number; readonly to: number; readonly reason: string }
  | { readonly type: 'ended'; readonly offset: number; readonly complete: boolean; readonly reason: string | null };

export interface ScreenAnswer {
  readonly sessionId: string;
  readonly offset: number;
  /** When the last byte of it came; null before the first. */
  readonly timeMs: number | null;
  readonly cols: number;
  readonly rows: number;
  readonly lines: readonly string[];
  readonly cursor: { readonly x: number; readonly y: number; readonly visible: boolean };
  readonly title: string;
  /** What was said before that instant and is not there any more, so that the screen may have been another; null for nothing. */
  readonly missing: { readonly bytes: number; readonly reason: string } | null;
  /** The same screen as terminal bytes, with its colours. */
  readonly base64: string | null;
}

// ---- timeline

export interface Bar {
  readonly key: string;
  /** Which lane it belongs to. */
  readonly lane: 'step' | 'wait' | 'run' | 'session' | 'check' | 'worktree';
  readonly label: string;
  readonly state: string;
  readonly actor: { readonly kind: ActorKind; readonly id: string } | null;
  readonly fromPosition: number;
  /** Wall time, for display. */
  readonly fromMs: number;
  /** Null while it lasts. A stretch of which nobody knows where the actor stood is a bar whose `state` is `unknown`. */
  readonly toMs: number | null;
  readonly toPosition: number | null;
  /** Of a wait: why. Of an end: how. */
  readonly reason: string | null;
  /** How its process ended, or how the step did; null while it lasts, and where nobody knows. */
  readonly outcome: Outcome | null;
  /** Whether anything of it remains is not proved. */
  readonly unproved: boolean;
}

export interface TimelineAnswer {
  readonly goalId: string;
  readonly title: string;
  readonly status: string;
  readonly nowMs: number;
  readonly bars: readonly Bar[];
  /** True where a part of something shown is not known: retention has removed it, or it cannot be replayed. */
  readonly cut: boolean;
  /** What is there and not shown, because there is too much of it: the older actors, and of the others the older stretches. */
  readonly omitted: { readonly actors: number; readonly bars: number };
}

// ---- metrics

export type { Distribution, Past, PastSeries, Unit };

/** The windows that can be looked at. A step is whole minutes, because commits are kept by the minute; 97 steps at most. */
export const metricsWindows = {
  '1h': { spanMs: 3_600_000, stepMs: 60_000 },
  '24h': { spanMs: 86_400_000, stepMs: 900_000 },
  '7d': { spanMs: 604_800_000, stepMs: 7_200_000 },
} as const;

export type MetricsWindow = keyof typeof metricsWindows;

/** What `custody metrics` says of the same window, and each step of it. */
export type MetricsAnswer = MetricsHistory;

// ---- updates

/** The event stream: `event` is the type, `data` the whole object as JSON, `id` the journal position. */
export type UpdateMessage =
  /** First on every connection. */
  | { readonly type: 'hello'; readonly position: number; readonly control: boolean; readonly heartbeatMs: number }
  /** The fleet is read in: every row is known. */
  | { readonly type: 'fleet.ready'; readonly position: number }
  /** Committed; coalesced: the newest row of each actor, and every event since the last message, oldest first. */
  | {
      readonly type: 'committed';
      readonly position: number;
      readonly actors: readonly ActorRow[];
      readonly messages: readonly Message[];
      /** Events that are left out of `messages`, because there were too many: `sequence` has them. */
      readonly skipped: number;
    }
  /** Health, admission, capacity or findings are other than before. */
  | {
      readonly type: 'overview';
      readonly position: number;
      readonly overview: Omit<FleetAnswer, 'actors' | 'complete' | 'omitted' | 'control'>;
    }
  /** Everything between is not coming: this client was too slow, or asked for a position that is no longer kept. Reload the view. */
  | { readonly type: 'gap'; readonly from: number; readonly position: number; readonly reason: 'slow' | 'not_kept' }
  /** The daemon is leaving; nothing follows. */
  | { readonly type: 'leaving'; readonly position: number };

/** A comment line arrives at least this often; a stream silent for three of them is dead. */
export const heartbeatMs = 5_000;

// ---- control

export type ControlRequest = {
  /** Made by the page, one per intent: the same one again does nothing twice. At most 64 of [A-Za-z0-9_-]. */
  readonly requestId: string;
} & (
  | { readonly verb: 'run.stop'; readonly runId: string }
  | { readonly verb: 'goal.cancel'; readonly goalId: string }
  | { readonly verb: 'worktree.close'; readonly generationId: string }
);

export interface ControlAnswer {
  readonly verb: string;
  readonly requestId: string;
  /** The answer of the daemon's own command. */
  readonly data: unknown;
  readonly warnings: readonly string[];
  readonly position: number;
}
