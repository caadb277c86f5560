/** What a launch for a Goal is recorded by before anything is spawned (C.11-2), and what the job is told about itself. */
import { join } from 'node:path';
import type { Delegator } from '../../../machines/delegators.ts';
import type { Resident } from '../../../machines/events/scope.ts';
import type { GoalSnapshot } from '../../../machines/goal.ts';
import type { RunId, ScopeId } from '../../../machines/ids.ts';
import type { GenerationSnapshot } from '../../../machines/worktreeGeneration.ts';
import type { Draft } from '../../host/outcome.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { draft } from '../../runtime/submission.ts';

export interface Reservation {
  readonly runId: RunId;
  readonly scopeId: ScopeId;
  /** The scope that the new one is nested in. */
  readonly parentScopeId: ScopeId | null;
  readonly generation: GenerationSnapshot;
  /** Which attempt at which Goal it serves, as it will be when the launch is committed. */
  readonly goalRef: {
    readonly goalId: GoalSnapshot['context']['goalId'];
    readonly occurrence: number;
    readonly step: 'backlog' | 'todo' | 'plan' | 'implement' | 'quality' | 'governance' | 'review';
    readonly nodeId: GoalSnapshot['context']['nodeId'];
    readonly round: number;
  };
  readonly recipeDigest: string;
  readonly label: string | null;
  readonly delegators?: readonly Delegator[];
  readonly residents?: readonly Resident[];
  readonly onRootExit: 'terminate' | 'wait';
  readonly graceMs: number;
  readonly budgetMs: number;
  /** Who asks, and under which event id. */
  readonly by: string;
  readonly eventId: string;
}

/** `opening` goes between the scope and its entry in the generation: the session of a terminal, say. */
export function reservationDrafts(
  { guardian }: Pick<Runtime, 'guardian'>,
  reservation: Reservation,
  opening: readonly Draft[] = [],
): Draft[] {
  const { runId, scopeId, parentScopeId, generation, goalRef, label, by, eventId } = reservation;
  const { recipeDigest, onRootExit, graceMs, budgetMs, delegators = [], residents = [] } = reservation;
  const { generationId } = generation.context;
  const { goalId, occurrence, nodeId } = goalRef;
  return [
    draft('run.reserved', {
      to: ['run', runId],
      payload: {
        runId,
        generationId,
        goalRef,
        mode: 'managed',
        rootScopeId: scopeId,
        label,
        retryOf: null,
        origin: 'native',
        gaps: [],
      },
      by,
      eventId,
    }),
    draft('run.admitted', { to: ['worktreeGeneration', generationId], payload: { runId }, by: 'admission' }),
    draft('scope.requested', {
      to: ['executionScope', scopeId],
      payload: {
        scopeId,
        runId,
        generationId,
        parentScopeId,
        kind: 'guardian',
        goalId,
        occurrence,
        nodeId,
        recipeDigest,
        onRootExit,
        graceMs,
        budgetMs,
        purpose: label,
        ...(delegators.length === 0 ? {} : { delegators: [...delegators] }),
        ...(residents.length === 0 ? {} : { residents: [...residents] }),
      },
      by: 'admission',
    }),
    ...opening,
    draft('scope.opened', {
      to: ['worktreeGeneration', generationId],
      payload: { runId, scopeId, guardianDigest: guardian.digest },
      by: 'launch-coordinator',
    }),
  ];
}

type Job = Pick<Reservation, 'runId' | 'scopeId' | 'generation' | 'goalRef'> & { readonly goal: GoalSnapshot };

/** What the job is told about itself (GOAL-05): references, never the text of the request. */
export function workOrder({ places }: Pick<Runtime, 'places'>, job: Job): Record<string, string> {
  const { runId, scopeId, generation, goal, goalRef } = job;
  const request = goal.context.rounds.find(({ index }) => index === goalRef.round);
  return {
    CUSTODY_GOAL: goalRef.goalId,
    CUSTODY_RUN: runId,
    CUSTODY_SCOPE: scopeId,
    CUSTODY_WORKTREE: generation.context.generationId,
    CUSTODY_OCCURRENCE: String(goalRef.occurrence),
    CUSTODY_ROUND: String(goalRef.round),
    ...(request
      ? {
          CUSTODY_REQUEST_FILE: join(places.stateDir, request.requestRef),
          CUSTODY_REQUEST_DIGEST: request.requestDigest,
        }
      : {}),
  };
}

/** The step as a basis names it: a Goal that failed or is over is referred to as one that is being written. */
export function goalRefOf({ context }: GoalSnapshot): Reservation['goalRef'] {
  const { goalId, nodeId, round, occurrence, status } = context;
  const step = status === 'failed' || status === 'done' || status === 'cancelled' ? 'backlog' : status;
  return { goalId, occurrence: occurrence.n, step, nodeId, round };
}
