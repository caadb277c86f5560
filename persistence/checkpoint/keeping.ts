/** Which rows of an actor that is over stay in the journal, and why (RET-02). The rules are explained in docs/retention.md. */
import { landmark } from '../../machines/landmarks.ts';
import type { Store } from '../store.ts';
import type { Ending } from '../tables/endings.ts';
import type { NewJournalRow } from '../tables/journal.ts';
import type { Dependencies } from './dependencies.ts';
import type { KeptReason } from './progress.ts';

export interface CheckpointRules {
  /** So many of the newest events of each actor stay; at least 1, because the newest of all may never go. */
  readonly newestEvents: number;
  /** Events of this wall time or later stay, in milliseconds. */
  readonly cutoffWallMs: number;
}

type Row = NewJournalRow & { readonly intact: boolean };
type Tables = Pick<Store, 'journal'>;

export interface Keeping {
  /** Undefined for a row that may go. */
  reasonFor(row: Row): KeptReason | undefined;
}

/** For one actor. Holds as long as the transaction, or the turn of the event loop, in which it was made. */
export function keepingOf(
  { journal }: Tables,
  ending: Ending,
  { rules, needs }: { readonly rules: CheckpointRules; readonly needs: Dependencies },
): Keeping {
  const { actorKey, kind } = ending;
  const whole = needs.reasonFor(actorKey);
  const first = journal.rowsOf(actorKey, 0, 1)[0]?.position;
  const newest = journal.newestOf(actorKey, Math.max(1, rules.newestEvents));

  function isLandmark({ type, position }: Row): boolean {
    const kept = landmark(kind, type);
    return kept === 'all' || (kept === 'first' && !journal.hasBefore(actorKey, type, position));
  }

  return {
    reasonFor(row) {
      if (whole !== undefined) return whole;
      if (row.position === first) return 'first';
      if (row.position === ending.position) return 'end';
      if (row.position >= newest) return 'newest';
      if (isLandmark(row)) return 'landmark';
      if (needs.mayCite(row.eventId)) return 'cited';
      return row.intact ? ofContent(row, { rules, needs }) : 'damaged';
    },
  };
}

function ofContent(
  row: Row,
  { rules, needs }: { readonly rules: CheckpointRules; readonly needs: Dependencies },
): KeptReason | undefined {
  const { at, payload } = JSON.parse(row.envelope) as {
    readonly at?: { readonly wallMs?: unknown };
    readonly payload?: { readonly gapId?: unknown };
  };
  // A row without a time is as old as it may be new.
  if (typeof at?.wallMs !== 'number' || at.wallMs >= rules.cutoffWallMs) return 'young';
  const isGap = row.type === 'coverage.gapRecorded' || row.type === 'coverage.gapClosed';
  return isGap && typeof payload?.gapId === 'string' && needs.mayCite(payload.gapId) ? 'open_gap' : undefined;
}

/** What a row takes in the table, its indexes left out. */
export const bytesOf = ({ envelope, eventId, type }: NewJournalRow): number =>
  Buffer.byteLength(envelope) + eventId.length + type.length + 96;
