/** Worktree generations. */
import type { TicketView, WorktreeView } from '../../actors/daemon/api/views.ts';
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

export function registeredLines(worktree: WorktreeView & { readonly isNew: boolean }, style: Style): string[] {
  const { generationId, authority, controller, isNew, path } = worktree;
  const how = isNew ? '' : ', known already';
  return [`${style.bold(line`${generationId}`)} ${line`${authority} (controller ${controller})${how}: ${path}`}`];
}

export function ticketLines({ file, executor, superseded }: TicketView, style: Style): string[] {
  return [
    line`${file}`,
    ...superseded.map((ticketId) => style.dim(line`ticket ${ticketId} counts no more`)),
    style.dim(line`next: ${executor} ${file}`),
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
  // A daemon of the version before says nothing of runs that others launched.
  const noted = (worktree.noted ?? []).map(({ runId, state, origin }) => [
    runId,
    state,
    `${origin}, launched elsewhere`,
  ]);
  const { active = 0, ended = 0, cancelled = 0 } = worktree.notedCounts ?? {};
  const beyond = active + ended + cancelled - noted.length;
  const rows = [...runs, ...noted, ...(beyond > 0 ? [[`${beyond} more`, '', 'launched elsewhere']] : [])];
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
        // A daemon of the version before says nothing of these four.
        ['evidence', (worktree.evidence ?? []).join(', ') || null],
        ['handoff', worktree.handoff && handoff(worktree.handoff)],
        ['found', found(worktree, style)],
        ['version', worktree.version],
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
    ...(rows.length > 0 ? table({ heading: ['run', 'state', 'scopes'], rows, empty: '', style }) : []),
  ];
}

/** After `close` and `seal`, when there is one thing to do next. */
export function worktreeDecisionLines(worktree: WorktreeView, style: Style): string[] {
  const { generationId, path } = worktree;
  const next: Readonly<Record<string, string>> = {
    closing: line`custody worktrees seal ${generationId}`,
    sealed: line`custody worktrees ticket ${generationId} --executor custody-archive (or custody-remove, if nobody needs ${path})`,
  };
  const command = worktree.authority === 'managed' ? next[worktree.lifecycle] : undefined;
  return [...worktreeDetailLines(worktree, style), ...(command ? [style.dim(`next: ${command}`)] : [])];
}

const handoff = ({ to, waitsFor }: NonNullable<WorktreeView['handoff']>): string =>
  waitsFor.length === 0 ? `to ${to}` : `to ${to}, waits: ${waitsFor.map(({ detail }) => detail).join('; ')}`;

/** Shown when something else than the worktree was found at its path. */
const found = ({ pathObservation }: WorktreeView, style: Style) =>
  (pathObservation ?? 'same') === 'same' ? null : { text: `path ${pathObservation}`, paint: style.red };

const lifecycle = ({ lifecycle: text }: WorktreeView, style: Style) => ({
  text,
  paint: text === 'sealed' ? style.green : (same: string) => same,
});
