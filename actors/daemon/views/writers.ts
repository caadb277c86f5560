/**
 * Who may write in a directory, as far as other generations of the same directory know (WT-01): a run that was noted before
 * its git directory was another one is still there. No chart sees the record of another, so whoever decides asks here. Gaps
 * are told to every worktree that they may be about by themselves.
 */
import { type GenerationSnapshot, writerBlockersOf } from '../../../machines/worktreeGeneration.ts';
import type { SealBlocker } from '../../../machines/worktreeGenerationBlockers.ts';
import type { Reading } from '../../runtime/actorAccess.ts';
import { sharersOf } from '../../runtime/generations.ts';

export function writersBeside(host: Reading, generation: GenerationSnapshot): readonly SealBlocker[] {
  return [...sharersOf(host, generation)].flatMap((other) =>
    writerBlockersOf(other)
      .filter(({ code }) => code !== 'coverage_gap')
      .map((blocker) => ({
        ...blocker,
        detail: `${blocker.detail} (known of ${other.context.generationId}, which is the same directory)`,
      })),
  );
}
