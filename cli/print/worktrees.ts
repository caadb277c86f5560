/** Worktree generations. */
import type { WorktreeView } from '../../actors/daemon/api/views.ts';
import { line } from './escape.ts';
import type { Style } from './style.ts';
import { fields, table } from './table.ts';

export const worktreeLines = (worktrees: readonly WorktreeView[], style: Style): string[] =>
  table({
    heading: ['worktree', 'lifecycle', 'authority', 'goal', 'branch', 'path'],
    rows: worktrees.map((worktree) => [
      worktree.generationId,
      lifecycle(worktree, style),
      worktree.authority,
      worktree.goalId,
      worktree.branch,
      worktree.path,
    ]),
    empty: 'no worktrees; try: custody worktrees add GOAL',
    style,
  });

export function newWorktreeLines(worktree: WorktreeView, style: Style): string[] {
  return [
    `${style.bold(line`${worktree.generationId}`)} ${line`${worktree.authority}, ${worktree.lifecycle}: ${worktree.path}`}`,
    ...(worktree.goalId === null ? [] : [style.dim(line`next: custody runs exec ${worktree.goalId} -- CMD...`)]),
  ];
}

export function worktreeDetailLines(worktree: WorktreeView, style: Style): string[] {
  const runs = worktree.runs.map(({ runId, state, scopes }) => [
    runId,
    state,
    Object.entries(scopes)
      .map(([scopeId, word]) => `${scopeId} ${word === 'pending' ? 'not proved' : word}`)
      .join(', '),
  ]);
  return [
    ...fields(
      [
        ['worktree', { text: worktree.generationId, paint: style.bold }],
        ['path', worktree.path],
        ['branch', worktree.branch],
        ['base', worktree.baseCommit],
        ['goal', worktree.goalId],
        ['lifecycle', lifecycle(worktree, style)],
        ['authority', `${worktree.authority} (controller ${worktree.controller}, origin ${worktree.origin})`],
        ['epochs', `authority ${worktree.authorityEpoch}, ownership ${worktree.ownershipEpoch}`],
        ['sealed at', worktree.sealEpoch === null ? null : `epoch ${worktree.sealEpoch}`],
        ['contract', worktree.contract],
        [
          'coverage gaps',
          worktree.coverageGaps === 0 ? null : { text: String(worktree.coverageGaps), paint: style.red },
        ],
      ],
      style,
    ),
    ...(runs.length > 0 ? table({ heading: ['run', 'state', 'scopes'], rows: runs, empty: '', style }) : []),
  ];
}

/** After `close` and `seal`, when there is one thing to do next. */
export function worktreeDecisionLines(worktree: WorktreeView, style: Style): string[] {
  const { generationId, path } = worktree;
  const next: Readonly<Record<string, string>> = {
    closing: line`custody worktrees seal ${generationId}`,
    sealed: line`git worktree remove ${path}, if nobody needs the directory (its branch stays)`,
  };
  const command = next[worktree.lifecycle];
  return [...worktreeDetailLines(worktree, style), ...(command ? [style.dim(`next: ${command}`)] : [])];
}

const lifecycle = ({ lifecycle: text }: WorktreeView, style: Style) => ({
  text,
  paint: text === 'sealed' ? style.green : (same: string) => same,
});
