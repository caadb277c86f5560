/** Goals. */
import type { CallResults, DecisionResult } from '../../actors/daemon/api/results.ts';
import type { GoalDetailView, GoalView } from '../../actors/daemon/api/views.ts';
import { line } from './escape.ts';
import { eventLine } from './events.ts';
import type { Style } from './style.ts';
import { type Cell, fields, table } from './table.ts';
import { assessment, spaced } from './words.ts';

export const goalLines = (goals: readonly GoalView[], style: Style): string[] =>
  table({
    heading: ['goal', 'status', 'rev', 'prio', 'may advance', 'check', 'title'],
    rows: goals.map((goal) => [
      goal.goalId,
      goal.status,
      goal.revision,
      goal.priority,
      goal.eligible ? { text: 'yes', paint: style.green } : { text: spaced(goal.reason), paint: style.dim },
      checkCell(goal, style),
      goal.title,
    ]),
    empty: 'no Goals; try: custody goals add TITLE',
    style,
  });

/** An earlier daemon says nothing of checks. */
const hasCheck = ({ check }: GoalView): boolean => (check ?? null) !== null;

/** `passed`, `failed`, why there is no verdict, or that there is none yet; and the run, whose output says more. */
function checkCell({ check }: GoalView, style: Style): Cell {
  if ((check ?? null) === null) return { text: '-', paint: style.dim };
  const { runId, verdict, reason } = check!;
  if (verdict === 'accepted') return { text: `passed ${runId}`, paint: style.green };
  if (verdict === 'failed') return { text: `failed ${runId}`, paint: style.red };
  return { text: `${reason === null ? 'no verdict yet' : spaced(reason)} ${runId}`, paint: style.yellow };
}

export function newGoalLines(goal: GoalView, style: Style): string[] {
  const isWaiting = goal.status === 'backlog' && goal.round > 0;
  const next = isWaiting ? `custody goals queue ${goal.goalId}` : `custody worktrees add ${goal.goalId}`;
  return [
    `${style.bold(line`${goal.goalId}`)} ${line`${goal.status}, round ${goal.round}: ${goal.title}`}`,
    style.dim(line`next: ${next}`),
  ];
}

export function goalDetailLines(goal: GoalDetailView, style: Style): string[] {
  const { evidence, history } = goal;
  return [
    ...fields(
      [
        ['goal', { text: goal.goalId, paint: style.bold }],
        ['title', goal.title],
        ['status', goal.status],
        ['may advance', goal.eligible ? 'yes' : `no: ${spaced(goal.reason)}`],
        ['check', hasCheck(goal) ? checkCell(goal, style) : null],
        ['revision', goal.revision],
        ['priority', goal.priority],
        ['node', goal.nodeId],
        ['repository', goal.repoId],
        ['occurrence', goal.occurrence],
        ['boundary', goal.boundary],
        ['integration', spaced(goal.integration)],
        ['convergence', spaced(goal.convergence)],
        ...goal.rounds.map(({ index, requestDigest }) => [`round ${index}`, `sha256 ${requestDigest}`] as const),
        ['worktrees', goal.worktrees.join(' ') || null],
        ['runs', goal.runs.join(' ') || null],
      ],
      style,
    ),
    ...Object.entries(evidence ?? {}).flatMap(([name, entries]) =>
      entries.map((entry: unknown) => line`${name}: ${JSON.stringify(entry)}`),
    ),
    ...(history ?? []).map((event) => eventLine(event, style)),
    ...(hasCheck(goal) ? [style.dim(line`next: custody runs logs ${goal.check!.runId}`)] : []),
  ];
}

export function decisionLines(decision: DecisionResult | CallResults['goals.cancel'], style: Style): string[] {
  const scopes = 'scopes' in decision ? decision.scopes : [];
  const rows = scopes.map((scope) => [scope.scopeId, assessment(scope.assessment, style)]);
  return [
    `${style.bold(line`${decision.goalId}`)} ${line`${decision.status} (${spaced(decision.outcome)}), revision ${decision.revision}`}`,
    ...(rows.length > 0 ? table({ heading: ['scope', 'assessment'], rows, empty: '', style }) : []),
  ];
}
