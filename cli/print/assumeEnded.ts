/** What is about to be assumed, and what was. */
import type { CallResults } from '../../actors/daemon/api/results.ts';
import type { AssessmentView } from '../../actors/daemon/api/views.ts';
import { line } from './escape.ts';
import type { Style } from './style.ts';
import { fields } from './table.ts';
import { assessment, spaced } from './words.ts';

/** The details of the refusal that asks for a confirmation. */
export interface Proposal {
  readonly scopeId: string;
  readonly generationId: string | null;
  readonly assessment: AssessmentView;
  readonly observed: readonly {
    readonly who: string;
    readonly pid: number;
    readonly result: string;
    readonly reason: string;
  }[];
  /** To be typed word for word. */
  readonly words: string;
}

export function proposalLines({ scopeId, generationId, assessment: view, observed }: Proposal): string[] {
  const why = view.state === 'unverified' ? ` (${spaced(view.reason)})` : '';
  return [
    line`Nothing will ever prove that nobody of ${scopeId} is left${why}.`,
    ...observed.map(({ who, pid, result, reason }) => line`  ${who}, pid ${pid}: ${result} (${spaced(reason)})`),
    'You can answer for it. If you are wrong, something of it may still write.',
    ...(generationId === null ? [] : [line`Its worktree ${generationId} is put aside first, for good.`]),
  ];
}

export function assumedLines(data: CallResults['recover.assumeEnded'], style: Style): string[] {
  const { quarantine, goalId } = data;
  return [
    ...fields(
      [
        ['scope', { text: data.scopeId, paint: style.bold }],
        ['assessment', assessment(data.assessment, style)],
        ['worktree', quarantine && `${quarantine.generationId}, quarantined`],
        ['lies at', quarantine && (quarantine.to ?? 'nowhere: it was gone already')],
      ],
      style,
    ),
    ...(goalId === null ? [] : [style.dim(line`next: custody worktrees add ${goalId}`)]),
  ];
}
