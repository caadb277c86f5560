/** A Goal as the command line shows it. */
import { goalEligibility } from '../../../machines/goalEligibility.ts';
import { committed, everyActor, required } from '../../runtime/actorAccess.ts';
import type { EventView, GoalDetailView, GoalView } from '../api/views.ts';
import type { DaemonContext } from '../context.ts';
import { goalCheck } from '../worker/goalCheck.ts';
import { eventViews } from './eventView.ts';
import { statePath } from './scopeView.ts';

type Parts = Pick<DaemonContext, 'host' | 'store'>;

export function goalView({ host, store }: Parts, goalId: string): GoalView {
  const goal = required(host, 'goal', goalId);
  const { context } = goal;
  const { eligible, reason } = goalEligibility(goal, store.nodeId as typeof context.nodeId);
  return {
    goalId,
    title: context.title,
    repoId: context.repoId,
    status: context.status,
    nodeId: context.nodeId,
    priority: context.priority,
    revision: context.revision,
    round: context.round,
    occurrence: context.occurrence.n,
    boundary: context.occurrence.boundary,
    integration: statePath(goal.value.integration),
    convergence: statePath(goal.value.convergence),
    eligible,
    reason,
    check: goalCheck(context),
  };
}

const historyEvents = 1_000;

export function goalDetailView(
  parts: Parts,
  goalId: string,
  wanted: { readonly evidence?: boolean | undefined; readonly history?: boolean | undefined },
): GoalDetailView {
  const { context } = committed(parts.host, 'goal', goalId)!;
  const idsLinked = (kind: 'run' | 'worktreeGeneration') =>
    [...everyActor(parts.host, kind, { link: { name: 'goalId', value: goalId } })].map(({ id }) => id);
  return {
    ...goalView(parts, goalId),
    rounds: context.rounds.map(({ index, requestDigest }) => ({ index, requestDigest })),
    runs: idsLinked('run'),
    worktrees: idsLinked('worktreeGeneration'),
    ...(wanted.evidence
      ? { evidence: { receipts: context.receipts, late: context.late, claims: context.claims } }
      : {}),
    ...(wanted.history ? { history: historyOf(parts, goalId) } : {}),
  };
}

const historyOf = ({ store }: Parts, goalId: string): readonly EventView[] =>
  eventViews(store.journal.page({ actor: { kind: 'goal', id: goalId }, limit: historyEvents }));
