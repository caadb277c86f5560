/** The stage of each repository, and every change of one with what it rested on (PROMO-01, PROMO-04). */
import type { Connection } from '../connection.ts';
import { rowDigest } from '../digest.ts';
import { damagedRow } from '../errors.ts';

/** In the order in which they are reached. */
export const stages = ['tracking', 'comparing', 'canary', 'wide', 'sole'] as const;
export type Stage = (typeof stages)[number];

export interface PromotionUnit {
  readonly unitId: string;
  /** What all worktrees of the repository share, and what tells it from others. */
  readonly commonGitDir: string;
  /** Where somebody pointed at it; for display. */
  readonly path: string;
}

export interface Promotion extends PromotionUnit {
  readonly stage: Stage;
  /** Counts the changes. */
  readonly version: number;
}

export interface PromotionChange {
  readonly version: number;
  readonly from: Stage;
  readonly to: Stage;
  readonly by: string;
  /** For display. */
  readonly wallMs: number;
  readonly requestId: string;
  /** Null where the change asks for no report: the way back, and the first steps. */
  readonly reportId: string | null;
  readonly reportDigest: string | null;
}

/** A damaged row throws StoreError `store_corrupt`: a stage that is read wrongly may let control be taken. */
export interface PromotionsTable {
  find(commonGitDir: string): Promotion | undefined;
  list(): readonly Promotion[];
  /** False, and nothing is written, when the unit is not at the version before (`version` 1: when it is known already). */
  change(unit: PromotionUnit, change: PromotionChange): boolean;
  /** Oldest first. */
  changes(unitId: string): readonly PromotionChange[];
  changeOfRequest(requestId: string): ChangeOfUnit | undefined;
}

type ChangeOfUnit = PromotionChange & { readonly unitId: string };
type Kept<Row> = Row & { readonly digest: string };

const digestOf = ({ unitId, commonGitDir, path, stage, version }: Promotion): string =>
  rowDigest(unitId, commonGitDir, path, stage, version);

function intact({ digest, ...row }: Kept<Promotion>): Promotion {
  if (digest !== digestOf(row)) throw damagedRow(`stage of ${row.path}`);
  return row;
}

const digestOfChange = (row: ChangeOfUnit): string =>
  rowDigest(
    ...[row.unitId, row.version, row.from, row.to, row.by, row.wallMs, row.requestId],
    ...[row.reportId, row.reportDigest],
  );

function intactChange({ digest, ...row }: Kept<ChangeOfUnit>): ChangeOfUnit {
  if (digest !== digestOfChange(row)) throw damagedRow(`change ${row.version} of the stage of ${row.unitId}`);
  return row;
}

export function createPromotionsTable(connection: Connection): PromotionsTable {
  const from = 'SELECT unit_id AS unitId, common_git_dir AS commonGitDir, path, stage, version, digest FROM promotions';
  const byDirectory = connection.prepare(`${from} WHERE common_git_dir = ?`);
  const all = connection.prepare(`${from} ORDER BY path, unit_id`);
  const insert = connection.prepare(`INSERT INTO promotions (unit_id, common_git_dir, path, stage, version, digest)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const update = connection.prepare('UPDATE promotions SET stage = ?, version = ?, digest = ? WHERE unit_id = ?');
  const record = connection.prepare(`INSERT INTO promotion_changes
    (unit_id, version, from_stage, to_stage, changed_by, wall_ms, request_id, report_id, report_digest, digest)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const history = `SELECT unit_id AS unitId, version, from_stage AS "from", to_stage AS "to", changed_by AS by,
    wall_ms AS wallMs, request_id AS requestId, report_id AS reportId, report_digest AS reportDigest, digest
    FROM promotion_changes`;
  const ofUnit = connection.prepare(`${history} WHERE unit_id = ? ORDER BY version`);
  const ofRequest = connection.prepare(`${history} WHERE request_id = ?`);

  function find(commonGitDir: string): Promotion | undefined {
    const row = byDirectory.get(commonGitDir) as Kept<Promotion> | undefined;
    return row && intact(row);
  }

  /** Whether the unit was at the version before, and is at this one now. */
  function move(unit: PromotionUnit, stage: Stage, version: number): boolean {
    if (version === 1) {
      const { unitId, commonGitDir, path } = unit;
      const digest = digestOf({ unitId, commonGitDir, path, stage, version });
      return insert.run(unitId, commonGitDir, path, stage, version, digest).changes === 1;
    }
    const known = find(unit.commonGitDir);
    if (known?.version !== version - 1) return false;
    return update.run(stage, version, digestOf({ ...known, stage, version }), known.unitId).changes === 1;
  }

  return {
    find,
    list: () => (all.all() as Kept<Promotion>[]).map(intact),
    change(unit, change) {
      const { version, from: before, to, by, wallMs, requestId, reportId, reportDigest } = change;
      if (!move(unit, to, version)) return false;
      const { unitId } = unit;
      const digest = digestOfChange({ ...change, unitId });
      record.run(unitId, version, before, to, by, wallMs, requestId, reportId, reportDigest, digest);
      return true;
    },
    changes: (unitId) =>
      (ofUnit.all(unitId) as Kept<ChangeOfUnit>[]).map(intactChange).map(({ unitId: _, ...change }) => change),
    changeOfRequest(requestId) {
      const row = ofRequest.get(requestId) as Kept<ChangeOfUnit> | undefined;
      return row && intactChange(row);
    },
  };
}
