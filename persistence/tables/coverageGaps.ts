/**
 * What was not told (INT-05): windows in which a producer's notes were lost. A gap is closed by evidence and never by
 * time; a closed one stays on record.
 */
import type { Connection } from '../connection.ts';
import { rowDigest } from '../digest.ts';
import { damagedRow } from '../errors.ts';
import { limitOf, type Page } from '../paging.ts';

export interface CoverageGap {
  readonly gapId: string;
  readonly producer: string;
  readonly kind: string;
  /** Wall time in ms, for people: the notes before and after what is missing. */
  readonly fromWallMs: number;
  readonly toWallMs: number;
  /** How many notes are missing. */
  readonly count: number;
  /** The boot in which they were written, as far as one can tell. */
  readonly bootId: string;
}

export interface RecordedGap extends CoverageGap {
  /** Row key, the cursor of lists. */
  readonly key: number;
  readonly closedBy: string | null;
  readonly closedWallMs: number | null;
}

export interface GapCount {
  readonly producer: string;
  readonly state: 'open' | 'closed';
  readonly count: number;
}

/** How many of a producer came and were closed in one step of time. */
export interface GapChange {
  readonly producer: string;
  /** -1 for all that was before the first one. */
  readonly step: number;
  readonly recorded: number;
  readonly closed: number;
}

/** `count` steps of `stepMs` from `fromMs` on, in wall-clock milliseconds. */
export interface GapSteps {
  readonly fromMs: number;
  readonly stepMs: number;
  readonly count: number;
}

const namedProducers = 100;

/** A damaged row throws StoreError `store_corrupt`: a gap that is read wrongly may count as closed. */
export interface CoverageGapsTable {
  /** False when it is on record already. */
  record(gap: CoverageGap): boolean;
  /** False when it is closed already, or unknown. */
  close(gapId: string, by: string, wallMs: number): boolean;
  find(gapId: string): RecordedGap | undefined;
  open(page?: Page): readonly RecordedGap[];
  list(page?: Page): readonly RecordedGap[];
  /** How many there are of each producer, for as many producers as a list may name; all others as `*`, which is no producer. */
  byProducer(): readonly GapCount[];
  /**
   * How it came to that, of the same producers: a gap counts from the end of its window on, or from when it was closed if a
   * clock says that this was before. What is later than the last step belongs to it, so that all changes add up to the counts.
   */
  changes(steps: GapSteps): readonly GapChange[];
  count(): { readonly recorded: number; readonly open: number };
}

type Row = RecordedGap & { readonly digest: string };

const digestOf = (gap: Omit<RecordedGap, 'key'>): string =>
  rowDigest(
    gap.gapId,
    gap.producer,
    gap.kind,
    gap.fromWallMs,
    gap.toWallMs,
    gap.count,
    gap.bootId,
    gap.closedBy,
    gap.closedWallMs,
  );

function intact({ digest, ...gap }: Row): RecordedGap {
  if (digest !== digestOf(gap)) throw damagedRow(`gap ${gap.key}`);
  return gap;
}

const stillOpen = { closedBy: null, closedWallMs: null };

export function createCoverageGapsTable(connection: Connection): CoverageGapsTable {
  const record = connection.prepare(`INSERT OR IGNORE INTO coverage_gaps
    (gap_id, producer, kind, from_wall_ms, to_wall_ms, count, boot_id, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const close = connection.prepare(
    'UPDATE coverage_gaps SET closed_by = ?, closed_wall_ms = ?, digest = ? WHERE gap = ?',
  );
  const from = `SELECT gap AS key, gap_id AS gapId, producer, kind, from_wall_ms AS fromWallMs, to_wall_ms AS toWallMs,
    count, boot_id AS bootId, closed_by AS closedBy, closed_wall_ms AS closedWallMs, digest FROM coverage_gaps`;
  const open = connection.prepare(`${from} WHERE closed_by IS NULL AND gap > ? ORDER BY gap LIMIT ?`);
  const find = connection.prepare(`${from} WHERE gap_id = ?`);
  const list = connection.prepare(`${from} WHERE gap > ? ORDER BY gap LIMIT ?`);
  const named = 'named AS (SELECT DISTINCT producer FROM coverage_gaps ORDER BY producer LIMIT ?)';
  const name = "CASE WHEN producer IN (SELECT producer FROM named) THEN producer ELSE '*' END AS producer";
  const byProducer = connection.prepare(`WITH ${named} SELECT ${name},
    CASE WHEN closed_by IS NULL THEN 'open' ELSE 'closed' END AS state, count(*) AS count
    FROM coverage_gaps GROUP BY 1, 2 ORDER BY 1, 2`);
  const changes = connection.prepare(`WITH ${named}, told AS (
      SELECT producer, min(to_wall_ms, coalesce(closed_wall_ms, to_wall_ms)) - ? AS since, 1 AS recorded, 0 AS closed
      FROM coverage_gaps
      UNION ALL SELECT producer, closed_wall_ms - ?, 0, 1 FROM coverage_gaps WHERE closed_by IS NOT NULL)
    SELECT ${name}, CASE WHEN since < 0 THEN -1 ELSE min(CAST(since / ? AS INTEGER), ?) END AS step,
    sum(recorded) AS recorded, sum(closed) AS closed FROM told GROUP BY 1, 2 ORDER BY 1, 2`);
  const count = connection.prepare(
    'SELECT count(*) AS recorded, coalesce(sum(closed_by IS NULL), 0) AS open FROM coverage_gaps',
  );

  function found(gapId: string): RecordedGap | undefined {
    const row = find.get(gapId) as Row | undefined;
    return row && intact(row);
  }

  return {
    record(gap) {
      const { gapId, producer, kind, fromWallMs, toWallMs, count: missing, bootId } = gap;
      const digest = digestOf({ ...gap, ...stillOpen });
      return record.run(gapId, producer, kind, fromWallMs, toWallMs, missing, bootId, digest).changes === 1;
    },
    close(gapId, closedBy, closedWallMs) {
      const gap = found(gapId);
      if (gap === undefined || gap.closedBy !== null) return false;
      close.run(closedBy, closedWallMs, digestOf({ ...gap, closedBy, closedWallMs }), gap.key);
      return true;
    },
    find: found,
    open: (page = {}) => (open.all(page.after ?? 0, limitOf(page)) as Row[]).map(intact),
    list: (page = {}) => (list.all(page.after ?? 0, limitOf(page)) as Row[]).map(intact),
    byProducer: () => byProducer.all(namedProducers) as GapCount[],
    changes: ({ fromMs, stepMs, count: steps }) =>
      changes.all(namedProducers, fromMs, fromMs, stepMs, steps - 1) as GapChange[],
    count: () => count.get() as { recorded: number; open: number },
  };
}
