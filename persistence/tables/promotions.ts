/** The stage of each repository, and every change of one with what it rested on (PROMO-01, PROMO-04). */
import type { Connection } from '../connection.ts';

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

export interface PromotionsTable {
  find(commonGitDir: string): Promotion | undefined;
  list(): readonly Promotion[];
  /** False, and nothing is written, when the unit is not at the version before (`version` 1: when it is known already). */
  change(unit: PromotionUnit, change: PromotionChange): boolean;
  /** Oldest first. */
  changes(unitId: string): readonly PromotionChange[];
  changeOfRequest(requestId: string): (PromotionChange & { readonly unitId: string }) | undefined;
}

export function createPromotionsTable(connection: Connection): PromotionsTable {
  const from = 'SELECT unit_id AS unitId, common_git_dir AS commonGitDir, path, stage, version FROM promotions';
  const byDirectory = connection.prepare(`${from} WHERE common_git_dir = ?`);
  const all = connection.prepare(`${from} ORDER BY path, unit_id`);
  const insert = connection.prepare(`INSERT INTO promotions (unit_id, common_git_dir, path, stage, version)
    VALUES (?, ?, ?, ?, 1) ON CONFLICT DO NOTHING`);
  const update = connection.prepare('UPDATE promotions SET stage = ?, version = ? WHERE unit_id = ? AND version = ?');
  const record = connection.prepare(`INSERT INTO promotion_changes
    (unit_id, version, from_stage, to_stage, changed_by, wall_ms, request_id, report_id, report_digest)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const history = `SELECT unit_id AS unitId, version, from_stage AS "from", to_stage AS "to", changed_by AS by,
    wall_ms AS wallMs, request_id AS requestId, report_id AS reportId, report_digest AS reportDigest
    FROM promotion_changes`;
  const ofUnit = connection.prepare(`${history} WHERE unit_id = ? ORDER BY version`);
  const ofRequest = connection.prepare(`${history} WHERE request_id = ?`);

  return {
    find: (commonGitDir) => byDirectory.get(commonGitDir) as Promotion | undefined,
    list: () => all.all() as Promotion[],
    change({ unitId, commonGitDir, path }, { version, to, ...change }) {
      const { changes } =
        version === 1 ? insert.run(unitId, commonGitDir, path, to) : update.run(to, version, unitId, version - 1);
      if (changes !== 1) return false;
      const { from: before, by, wallMs, requestId, reportId, reportDigest } = change;
      record.run(unitId, version, before, to, by, wallMs, requestId, reportId, reportDigest);
      return true;
    },
    changes: (unitId) =>
      (ofUnit.all(unitId) as Array<PromotionChange & { unitId: string }>).map(({ unitId: _, ...change }) => change),
    changeOfRequest: (requestId) => ofRequest.get(requestId) as ReturnType<PromotionsTable['changeOfRequest']>,
  };
}
