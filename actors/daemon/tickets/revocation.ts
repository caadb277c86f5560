/** How tickets cease to count. Control of a worktree does not leave past an executor that has begun: it is not raced. */
import { type GenerationSnapshot, writerBlockersOf } from '../../../machines/worktreeGeneration.ts';
import { changeMark, type Withdrawn, withdrawMark } from '../../executor/marks.ts';
import { withdrawDisturbed } from '../../ingest/disturbed.ts';
import { intact } from '../../runtime/actorAccess.ts';
import { isInPlace } from '../../runtime/generations.ts';
import { OperatingError } from '../../runtime/operatingError.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { writersBeside } from '../views/writers.ts';

type Parts = Pick<Runtime, 'store'>;

/**
 * Tickets of worktrees that are retired say so to whoever tries them again. The seal is spent with the retirement itself: a
 * daemon that dies before this leaves nothing but the words to its successor.
 */
export function spendTickets({ store, host, log }: Pick<Runtime, 'store' | 'host' | 'log'>): void {
  for (const { ticketId, generationId, directory } of store.tickets.issued()) {
    const generation = intact(host, 'worktreeGeneration', generationId);
    if (generation === undefined || generation === 'corrupt' || !generation.matches({ lifecycle: 'retired' })) continue;
    try {
      for (const mark of ['begun', 'taken'] as const) changeMark(directory, mark, 'used');
      store.write(() => store.tickets.setState(ticketId, 'used'));
    } catch (error) {
      // A full disk must not keep a daemon from serving for the sake of words; the next start says them.
      const { code } = error as { readonly code?: unknown };
      log.error({ ticketId, code }, 'a ticket that was used could not be marked as such');
    }
  }
}

/** Of worktrees in which somebody may write since their seal, whoever has recorded that. */
export function withdrawDoubtful({ store, host }: Pick<Runtime, 'store' | 'host'>): void {
  for (const { generationId } of store.tickets.issued()) {
    const generation = intact(host, 'worktreeGeneration', generationId);
    if (generation === undefined || generation === 'corrupt') continue;
    const isDoubtful = writerBlockersOf(generation).length + writersBeside(host, generation).length > 0;
    if (isDoubtful) withdrawDisturbed(store, generation);
  }
}

/** Throws `executor_at_work` (exit 13) where the worktree was put aside already. */
export function revokeTickets({ store }: Parts, generation: GenerationSnapshot): void {
  const { generationId } = generation.context;
  for (const { ticketId, directory } of store.tickets.issuedFor(generationId)) {
    withdraw(generation, { ticketId, directory }, 'stale');
    store.write(() => store.tickets.setState(ticketId, 'superseded'));
  }
}

/** Throws `executor_at_work` (exit 13). */
export function withdraw(
  generation: GenerationSnapshot,
  { ticketId, directory }: { readonly ticketId: string; readonly directory: string },
  to: Withdrawn,
): void {
  if (!withdrawMark(directory, to, () => isInPlace(generation))) throw atWork(generation, ticketId, directory);
}

function atWork({ context }: GenerationSnapshot, ticketId: string, directory: string): OperatingError {
  const { generationId } = context;
  return new OperatingError({
    code: 'executor_at_work',
    message: `an executor has begun with ticket ${ticketId} for ${generationId}`,
    exitCode: 13,
    next: [
      'run the executor again with the same ticket',
      `custody worktrees retire ${generationId} --receipt ${directory}/receipt.json`,
    ],
    details: { generationId, ticketId },
  });
}
