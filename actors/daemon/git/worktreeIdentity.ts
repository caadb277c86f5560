/** Which directory a generation is: the same path made anew is another one (WT-01). */
import type { GenerationSnapshot } from '../../../machines/worktreeGeneration.ts';
import { placeOf } from '../../runtime/generations.ts';
import { OperatingError } from '../../runtime/operatingError.ts';

/**
 * Nothing starts in a directory that is not the recorded one: git would find a repository further up and work there.
 * Throws `generation_missing` (exit 13).
 */
export function assertInPlace(generation: GenerationSnapshot): void {
  const found = placeOf(generation);
  if (found === 'same') return;
  const { generationId, goalId, path } = generation.context;
  throw new OperatingError({
    code: 'generation_missing',
    message: `the directory of ${generationId} is ${found === 'replaced' ? 'another one by now' : 'gone'}: ${JSON.stringify(path)}`,
    exitCode: 13,
    next: goalId ? [`custody worktrees add ${goalId}`] : [],
    details: { generationId, found },
  });
}
