/** Which generation a note means by a directory (WT-01, INT-09): one that is known, or a new one that somebody else controls. */
import type { GenerationId } from '../../machines/ids.ts';
import type { Note, Place } from '../../machines/note.ts';
import type { Store } from '../../persistence/store.ts';
import type { CoverageGap } from '../../persistence/tables/coverageGaps.ts';
import type { Host } from '../host/api.ts';
import { generationAt, registrationOf, replacementsAt } from '../runtime/generations.ts';
import { gapDraft } from './coverage.ts';
import { generationIdOf, runIdOf } from './names.ts';
import type { Placing } from './telling.ts';

interface Parts {
  readonly host: Host;
  readonly store: Pick<Store, 'coverageGaps' | 'write'>;
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
      const { generationId: known } = found.context;
      const isControlledHere = !found.matches({ authority: 'observe' });
      const drafts = isControlledHere
        ? [gapDraft(known, strangerIn(store, { ...note, runId: runIdOf({ installationId, ...note }) }))]
        : [];
      return { generationId: known, isControlledHere, drafts };
    }
    const generationId = generationIdOf(installationId, note);
    const registration = registrationOf({ generationId, place, origin: 'observed', controller: note.producer, by });
    return {
      generationId,
      isControlledHere: false,
      drafts: [registration, ...inheritedGaps(store, generationId), ...replacementsAt(host, place, by)],
    };
  };

export interface Stranger {
  readonly runId: string;
  /** Who says so, and when. */
  readonly producer: string;
  readonly at: { readonly wallMs: number; readonly bootId: string };
}

/**
 * Somebody else's run works where this program is in control: nobody can prove its end here, so it keeps the worktree from
 * its seal as a gap does (WT-04). The row comes first; the note is not taken before the event is, and finds it again.
 */
export function strangerIn(store: Parts['store'], { runId, producer, at }: Stranger): CoverageGap {
  const gap = {
    gapId: `stranger:${runId}`,
    producer,
    kind: 'foreign_run',
    fromWallMs: at.wallMs,
    toWallMs: at.wallMs,
    count: 1,
    bootId: at.bootId,
  };
  // A repeated note, or another one about the same run, finds it there.
  return store.write(() => {
    store.coverageGaps.record(gap);
    return store.coverageGaps.find(gap.gapId) ?? gap;
  });
}

/** A note that was lost before may have been about this very directory. */
export function inheritedGaps(store: Parts['store'], generationId: GenerationId) {
  return store.coverageGaps.open({ limit: gapsAtMost }).map((gap) => gapDraft(generationId, gap));
}
