/**
 * How far what is known reaches (INT-05, INT-06): what was lost, by producer and window, and which worktrees that leaves in
 * doubt. Nothing here is ever called complete: who is told of nothing knows of nothing.
 */
import type { Store } from '../../persistence/store.ts';
import type { RecordedGap } from '../../persistence/tables/coverageGaps.ts';
import type { Host } from '../host/api.ts';
import { everyActor } from '../runtime/actorAccess.ts';

/**
 * `guarded`: this program launches everything that it knows of there; `best_effort`: somebody else does, and tells;
 * `incomplete`: something was lost that may have been about this worktree; `unreadable`: its record is damaged.
 */
export type CoverageClass = 'guarded' | 'best_effort' | 'incomplete' | 'unreadable';

export interface CoverageReport {
  readonly gaps: readonly RecordedGap[];
  /** Newest gaps that are not among them, because a report has an end. */
  readonly more: number;
  readonly worktrees: readonly {
    readonly generationId: string;
    readonly path: string | null;
    readonly class: CoverageClass;
    /** Ids of its open gaps. */
    readonly gaps: readonly string[];
  }[];
}

export interface CoverageRequest {
  /** Closed gaps as well. */
  readonly all: boolean;
}

const gapsAtMost = 1_000;

export function coverageReport(
  { host, store }: { readonly host: Host; readonly store: Pick<Store, 'coverageGaps'> },
  { all }: CoverageRequest,
): CoverageReport {
  const { coverageGaps } = store;
  const gaps = all ? coverageGaps.list({ limit: gapsAtMost }) : coverageGaps.open({ limit: gapsAtMost });
  const { recorded, open } = coverageGaps.count();
  const worktrees = [...everyActor(host, 'worktreeGeneration', { released: false })].map(({ id, snapshot }) => {
    if (snapshot === 'corrupt') return { generationId: id, path: null, class: 'unreadable' as const, gaps: [] };
    const { path, coverageGaps: own } = snapshot.context;
    const trusted = snapshot.matches({ authority: 'observe' }) ? 'best_effort' : 'guarded';
    const kind: CoverageClass = own.open.length > 0 ? 'incomplete' : trusted;
    return { generationId: id, path, class: kind, gaps: own.open };
  });
  return { gaps, more: (all ? recorded : open) - gaps.length, worktrees };
}
