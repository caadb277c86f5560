/** Who may act on a worktree generation: its controller, and nobody else (PROMO-01). */
import type { GenerationSnapshot } from '../../../machines/worktreeGeneration.ts';
import { OperatingError } from '../../runtime/operatingError.ts';

/** Throws `not_controller` (exit 4) where somebody else is in control and this program only watches. */
export function assertController(generation: GenerationSnapshot): void {
  if (!generation.matches({ authority: 'observe' })) return;
  const { generationId, controller } = generation.context;
  throw new OperatingError({
    code: 'not_controller',
    message: `${controller} controls ${generationId}; this program only watches it`,
    exitCode: 4,
    next: [
      `custody worktrees authority ${generationId} migrate --evidence REF`,
      `custody worktrees show ${generationId}`,
    ],
    details: { generationId, controller },
  });
}
