/**
 * What a Goal remembers. Evidence is kept for good (RCPT-07, CLAIM-03) and as digests only, so that it stays small; none
 * of it names a process, a scope or a session (GOAL-01).
 */
import type { Basis, Step } from './basis.ts';
import type { EventOf, Payload } from './events/catalogue.ts';
import type { goalEvents } from './events/goal.ts';
import type { ClaimId, GoalId, NodeId, RepoId } from './ids.ts';

export type GoalStatus = Step | 'failed' | 'done' | 'cancelled';

export interface GoalRound {
  /** From 1; what a basis calls `round`. */
  readonly index: number;
  readonly requestDigest: string;
  readonly requestRef: string;
}

/** Where in the life of the Goal something belongs. */
interface Origin {
  readonly occurrence: number;
  readonly step: GoalStatus;
  readonly round: number;
  readonly eventId: string;
}

export interface GoalClaim extends Origin {
  readonly claimId: ClaimId;
  readonly incarnationTokenHash: string;
}

export type GoalReceipt = Origin & Readonly<Payload<'receipt.recorded'>> & { readonly claimId: ClaimId | null };

export interface GoalFailure extends Origin {
  readonly kind: 'verdict' | 'stopped' | 'declined' | Payload<'step.failed'>['failureClass'];
  readonly reasonCode: string | null;
  readonly evidence: string;
}

/** What arrived when it could no longer count (OCC-09); a late receipt may be adopted by name (RCPT-06). */
export interface LateEvidence {
  readonly type: string;
  readonly eventId: string;
  readonly occurrence: number;
  readonly step: Step | null;
  readonly round: number | null;
  readonly claimId: ClaimId | null;
  readonly receipt: Readonly<Payload<'receipt.recorded'>> | null;
  readonly reasonCode: string | null;
}

export interface GoalEffect extends Origin {
  readonly effectId: string;
  readonly boundary: Payload<'sideEffect.started'>['boundary'];
  readonly claimDigest: string;
}

export type FinishedEffect = GoalEffect & Readonly<Omit<Payload<'sideEffect.finished'>, 'effectId'>>;

/** One attempt to bring a candidate into a target; what git was seen to hold is recorded bit by bit (OCC-07). */
export interface GoalIntegration {
  readonly attemptId: string;
  readonly target: string;
  readonly candidate: string;
  readonly occurrence: number;
  readonly round: number;
  readonly expectedTargetTip: string | null;
  /** The merge as it exists locally; without a remote commit it is incomplete. */
  readonly targetCommit: string | null;
  readonly remoteCommit: string | null;
  /** Why the last attempt to publish failed. */
  readonly publicationFailure: string | null;
  readonly complete: boolean;
}

export type PastIntegration = GoalIntegration & {
  readonly outcome: 'dropped' | 'not_applied' | 'replaced';
  readonly eventId: string;
};

export interface GoalContext {
  readonly goalId: GoalId;
  readonly title: string;
  readonly nodeId: NodeId;
  readonly repoId: RepoId | null;
  readonly priority: number;
  /** Counts the accepted changes of this record; decisions name the one that they were made on. */
  readonly revision: number;
  /** The event that made this revision: one event counts once, however many regions it moves. */
  readonly revisedBy: string | null;
  /** The step as a basis names it; every state sets it on entry. */
  readonly status: GoalStatus;
  /** Index of the current Round, 0 while there is none. */
  readonly round: number;
  readonly rounds: readonly GoalRound[];
  readonly occurrence: { readonly n: number; readonly boundary: number };
  /** Provenance only; eligibility never asks for it (CLAIM-02). */
  readonly claim: GoalClaim | null;
  readonly claims: readonly GoalClaim[];
  readonly receipts: readonly GoalReceipt[];
  /** What the newest accepted receipt of this Round produced. */
  readonly candidate: string | null;
  /** Set when unusable work was left behind and the request is redone on a new branch (OCC-12). */
  readonly preparation: (Origin & Readonly<Payload<'preparation.reproduced'>>) | null;
  readonly failure: GoalFailure | null;
  readonly late: readonly LateEvidence[];
  readonly integration: GoalIntegration | null;
  readonly integrationHistory: readonly PastIntegration[];
  readonly openEffects: readonly GoalEffect[];
  readonly finishedEffects: readonly FinishedEffect[];
  /** Both sides of an unresolved conflict (SYNC-04). */
  readonly conflict: Readonly<Payload<'sync.conflictRaised'>> | null;
}

export type GoalEventType = Exclude<keyof typeof goalEvents, 'goal.created'>;
export type GoalEvent = {
  readonly [Type in GoalEventType]: EventOf<Type> & { readonly basis?: Basis };
}[GoalEventType];

export const initialGoalContext = ({
  goalId,
  title,
  nodeId,
  repoId,
  priority,
  round,
}: Payload<'goal.created'>): GoalContext => ({
  goalId,
  title,
  nodeId,
  repoId,
  priority,
  revision: 1,
  revisedBy: null,
  status: 'backlog',
  round: round === undefined ? 0 : 1,
  rounds: round === undefined ? [] : [{ index: 1, requestDigest: round.requestDigest, requestRef: round.requestRef }],
  occurrence: { n: 1, boundary: 1 },
  claim: null,
  claims: [],
  receipts: [],
  candidate: null,
  preparation: null,
  failure: null,
  late: [],
  integration: null,
  integrationHistory: [],
  openEffects: [],
  finishedEffects: [],
  conflict: null,
});
