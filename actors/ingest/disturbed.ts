/**
 * A ticket that is out when somebody else is noted in its worktree (WT-04, WT-07). The executor asks nobody whether anything
 * is alive, so whoever takes the note in changes the mark that the executor looks at, before and after it has moved anything.
 * The mark comes first and the event follows: whoever dies in between has withdrawn a ticket, and finds the note again.
 */
import type { GenerationSnapshot } from '../../machines/worktreeGeneration.ts';
import type { Store } from '../../persistence/store.ts';
import { withdrawMark } from '../executor/marks.ts';
import type { Host } from '../host/api.ts';
import { intact } from '../runtime/actorAccess.ts';
import { isInPlace } from '../runtime/generations.ts';

type Parts = Pick<Store, 'tickets' | 'write'>;

/**
 * An executor that has the worktree already is too fast for anybody: what was noted stays on record all the same. One that
 * still has to look at the mark gives the worktree back, whenever it looks, though its ticket stands as issued till then.
 */
export function withdrawDisturbed(store: Parts, generation: GenerationSnapshot): void {
  for (const { ticketId, directory } of store.tickets.issuedFor(generation.context.generationId)) {
    if (!withdrawMark(directory, 'disturbed', () => isInPlace(generation))) continue;
    store.write(() => store.tickets.setState(ticketId, 'superseded'));
  }
}

/** As `withdrawDisturbed`, of each of these worktrees; most have no ticket, and then nothing of them is read. */
export function disturb({ store, host }: { readonly store: Parts; readonly host: Host }, ids: readonly string[]): void {
  for (const id of ids) {
    if (store.tickets.issuedFor(id).length === 0) continue;
    const generation = intact(host, 'worktreeGeneration', id);
    if (generation !== undefined && generation !== 'corrupt') withdrawDisturbed(store, generation);
  }
}
