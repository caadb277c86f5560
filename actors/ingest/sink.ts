/**
 * Where notes go: into the store of this process, or to the daemon that has it. Whoever reads notes asks how far a stream
 * was taken in, gives them in order, and says at the end what is missing.
 */
import type { Note } from '../../machines/note.ts';
import type { Store } from '../../persistence/store.ts';
import type { ProducerProgress } from '../../persistence/tables/producers.ts';
import { type BootClock, isOfThisMachine } from './boots.ts';
import { type CoverageParts, gapOf, recordGap, type StreamName } from './coverage.ts';
import type { Intake, NoteOutcome } from './intake.ts';
import type { Loss } from './ledger.ts';
import { recordRejected } from './rejected.ts';

/** The whole stream up to `taken` is accounted for: it was taken in before, is taken in now, or is lost. */
export interface Account extends StreamName {
  readonly taken: number;
  readonly losses: readonly Loss[];
  /** When the last note of it was written, wall time in ms. */
  readonly lastNoteWallMs: number;
}

export type TakenNote = Pick<NoteOutcome, 'runId' | 'outcome' | 'reason'>;

export interface NoteSink {
  /** The number up to which the stream is accounted for; 0 for one that is new. */
  progress(name: StreamName): Promise<{ readonly taken: number }>;
  /** One answer for each note, in order. Rejects when nothing of them, or not all, could be committed: ask again then. */
  take(notes: readonly Note[]): Promise<readonly TakenNote[]>;
  /** Returns how many notes are lost. */
  account(account: Account): Promise<number>;
}

export interface StoreSinkParts extends CoverageParts {
  readonly store: Pick<Store, 'coverageGaps' | 'producers' | 'tickets' | 'write'>;
  readonly intake: Intake;
  readonly clock: BootClock;
}

export function storeSink(parts: StoreSinkParts): NoteSink {
  const { store, intake, clock } = parts;
  // Nobody knows when what was lost elsewhere ends; only a later boot of this machine can be told from now on.
  const datedHere = (loss: Loss): Loss =>
    isOfThisMachine(clock, { bootId: loss.bootId, wallMs: loss.toWallMs }) ? loss : { ...loss, bootId: clock.bootId() };
  return {
    progress: async ({ producer, stream }) => store.producers.progress(producer, stream),
    async take(notes) {
      const outcomes = await intake.take(notes);
      await recordRejected(parts, outcomes);
      return outcomes.map(({ runId, outcome, reason }) => ({ runId, outcome, ...(reason ? { reason } : {}) }));
    },
    async account({ producer, stream, taken, losses, lastNoteWallMs }) {
      const before = store.producers.progress(producer, stream);
      const gaps = begunAfter(before, losses).map((loss) => gapOf({ producer, stream }, datedHere(loss)));
      // The gaps before the progress: whoever dies in between finds the same ones again.
      for (const gap of gaps) await recordGap(parts, gap);
      const lost = gaps.reduce((sum, { count }) => sum + count, 0);
      store.write(() => store.producers.advance({ producer, stream, taken, lost: before.lost + lost, lastNoteWallMs }));
      return lost;
    },
  };
}

/** What comes right behind what was taken in before was lost after that, also when a day lies between. */
function begunAfter(before: Pick<ProducerProgress, 'taken' | 'lastNoteWallMs'>, losses: readonly Loss[]): Loss[] {
  let reach = before.taken;
  return losses.map((loss) => {
    if (before.taken === 0 || loss.firstSeq !== reach + 1) return loss;
    reach = loss.lastSeq;
    return { ...loss, fromWallMs: Math.min(before.lastNoteWallMs, loss.fromWallMs) };
  });
}
