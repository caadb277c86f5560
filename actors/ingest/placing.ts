/** Which generation a note means by a directory (WT-01, INT-09): one that is known, or a new one that somebody else controls. */
import type { GenerationId } from '../../machines/ids.ts';
import type { Note, Place } from '../../machines/note.ts';
import type { Store } from '../../persistence/store.ts';
import type { Host } from '../host/api.ts';
import { generationAt, registrationOf, replacementsAt } from '../runtime/generations.ts';
import { gapDraft } from './coverage.ts';
import { generationIdOf } from './names.ts';
import type { Placing } from './telling.ts';

interface Parts {
  readonly host: Host;
  readonly store: Pick<Store, 'coverageGaps'>;
  readonly installationId: string;
}

const by = 'launcher-adapter';

/** One call of the host holds at most 256 events, and a note has some of its own. */
const gapsAtMost = 200;

export const placingIn =
  ({ host, store, installationId }: Parts) =>
  (place: Place, note: Note): Placing => {
    const found = generationAt(host, place);
    if (found !== undefined) {
      const isControlledHere = !found.matches({ authority: 'observe' });
      return { generationId: found.context.generationId, isControlledHere, drafts: [] };
    }
    const generationId = generationIdOf(installationId, note);
    const registration = registrationOf({ generationId, place, origin: 'observed', controller: note.producer, by });
    return {
      generationId,
      isControlledHere: false,
      drafts: [registration, ...inheritedGaps(store, generationId), ...replacementsAt(host, place, by)],
    };
  };

/** A note that was lost before may have been about this very directory. */
function inheritedGaps(store: Parts['store'], generationId: GenerationId) {
  return store.coverageGaps.open({ limit: gapsAtMost }).map((gap) => gapDraft(generationId, gap));
}
