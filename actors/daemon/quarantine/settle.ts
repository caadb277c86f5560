/** Before a daemon serves: what an earlier one was putting aside when it died either happened whole, or is taken back. */
import { intact } from '../../runtime/actorAccess.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { unfinishedIn } from './aside.ts';

export async function settleQuarantines({
  host,
  places,
  log,
}: Pick<Runtime, 'host' | 'places' | 'log'>): Promise<void> {
  for (const { note, move, undo, done } of await unfinishedIn(places.quarantineDir)) {
    const generation = move && intact(host, 'worktreeGeneration', move.generationId);
    if (move === undefined || generation === 'corrupt') {
      // Whether it was committed cannot be told, and a directory that was put aside must not come back by a guess.
      log.error({ note, generationId: move?.generationId }, 'an interrupted quarantine is left as it is: unreadable');
      continue;
    }
    const isCommitted = generation?.context.path === move.to;
    try {
      await (isCommitted ? done() : undo());
      log.info({ ...move, kept: isCommitted }, 'an interrupted quarantine was settled');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      log.error({ ...move, code }, 'an interrupted quarantine could not be taken back');
    }
  }
}
