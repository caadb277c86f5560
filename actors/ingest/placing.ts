/** Which generation a note means by a directory (WT-01, INT-09): one that is known, or a new one that somebody else controls. */
import type { Note, Place } from '../../machines/note.ts';
import type { Store } from '../../persistence/store.ts';
import type { CoverageGap } from '../../persistence/tables/coverageGaps.ts';
import type { Host } from '../host/api.ts';
import { generationAt, generationsIn, registrationOf, replacementsAt } from '../runtime/generations.ts';
import type { BootClock } from './boots.ts';
import { gapDraft, inheritedGaps } from './coverage.ts';
import { disturb } from './disturbed.ts';
import { generationIdOf, runIdOf } from './names.ts';
import type { Placing } from './telling.ts';

interface Parts {
  readonly host: Host;
  readonly store: Pick<Store, 'coverageGaps' | 'tickets' | 'write'>;
  readonly installationId: string;
  readonly clock: Pick<BootClock, 'bootId' | 'now'>;
}

const by = 'launcher-adapter';

export const placingIn =
  ({ host, store, installationId, clock }: Parts) =>
  (place: Place, note: Note): Placing => {
    const found = generationAt(host, place);
    // It may have had another git directory when control of it was taken: whoever writes there writes in that one as well.
    const controlled = [...(found === undefined ? [] : [found]), ...generationsIn(host, place)]
      .filter((one) => !one.matches({ authority: 'observe' }))
      .map(({ context }) => context.generationId);
    disturb({ host, store }, controlled);
    const stranger = { ...note, runId: runIdOf({ installationId, ...note }) };
    const disturbed = [...new Set(controlled)].map((id) => gapDraft(id, strangerIn(store, stranger)));
    if (found !== undefined) {
      const isControlledHere = !found.matches({ authority: 'observe' });
      return { generationId: found.context.generationId, isControlledHere, drafts: disturbed };
    }
    const generationId = generationIdOf(installationId, note);
    const registration = registrationOf({ generationId, place, origin: 'observed', controller: note.producer, by });
    return {
      generationId,
      isControlledHere: false,
      drafts: [
        registration,
        ...disturbed,
        ...inheritedGaps({ store, clock }, generationId),
        ...replacementsAt(host, place, by),
      ],
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
export function strangerIn(
  store: Pick<Parts['store'], 'coverageGaps' | 'write'>,
  { runId, producer, at }: Stranger,
): CoverageGap {
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
