/** What is measured by looking: how things stand at this moment, in figures that cost the same whatever there is. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { rowsIn } from '../../persistence/checkpoint/checkpoint.ts';
import { type SpoolBacklog, spoolBacklog } from '../../persistence/spoolBacklog.ts';
import { SpoolError } from '../../persistence/spoolError.ts';
import type { Store } from '../../persistence/store.ts';
import type { GapCount } from '../../persistence/tables/coverageGaps.ts';
import type { Clock } from '../observe/clock.ts';

export interface StandingParts {
  readonly store: Store;
  readonly spoolDir: string;
  readonly clock: Pick<Clock, 'now'>;
}

export interface Standing {
  /** In seconds; 0 where nothing waits, null where one cannot look. */
  readonly oldestUnappliedAge: number | null;
  readonly spoolBytes: number | null;
  readonly journalRows: number;
  readonly journalBytes: number;
  readonly databaseBytes: number;
  readonly gaps: readonly GapCount[];
}

const sampledRows = 256;

export function standingOf({ store, spoolDir, clock }: StandingParts): Standing {
  const spool = attempt(() => spoolBacklog(spoolDir, (...name) => store.producers.progress(...name).taken));
  const journalRows = rowsIn(store);
  return {
    oldestUnappliedAge: spool === null ? null : ageOf(spool, clock.now().wallMs),
    spoolBytes: spool?.bytes ?? null,
    journalRows,
    journalBytes: Math.round(journalRows * store.space.meanJournalRowBytes(sampledRows)),
    databaseBytes: ['', '-wal'].reduce((sum, suffix) => sum + sizeOf(join(store.stateDir, `custody.db${suffix}`)), 0),
    gaps: store.coverageGaps.byProducer(),
  };
}

const ageOf = ({ oldestWallMs }: SpoolBacklog, nowMs: number): number =>
  oldestWallMs === null ? 0 : Math.max(0, nowMs - oldestWallMs) / 1_000;

/** By name and never by a descriptor: closing one would drop the locks of this process (ruling 17). */
const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

function attempt<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if (error instanceof SpoolError) return null;
    throw error;
  }
}
