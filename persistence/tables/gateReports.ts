/** What stood for and against a promotion when it was asked for (PROMO-04), with a digest by which it is cited. */
import type { Connection } from '../connection.ts';
import { rowDigest } from '../digest.ts';

export type GateVerdict = 'green' | 'red' | 'missing';

export interface GateReportRow {
  readonly reportId: string;
  readonly unitId: string;
  readonly verdict: GateVerdict;
  readonly wallMs: number;
  /** JSON; its shape belongs to the gate. */
  readonly report: unknown;
}

export interface StoredGateReport extends GateReportRow {
  readonly digest: string;
  /** False when the row is not what was written. */
  readonly intact: boolean;
}

/** Reports of one repository that are kept, the newest. */
export const keptGateReports = 200;

export interface GateReportsTable {
  /**
   * Returns the digest. Older reports of the repository go, unless a change of its stage or the control of a worktree cites
   * them: evidence stays for as long as something rests on it.
   */
  insert(row: GateReportRow): string;
  find(reportId: string): StoredGateReport | undefined;
  newest(unitId: string): StoredGateReport | undefined;
}

type Raw = Omit<StoredGateReport, 'intact' | 'report'> & { readonly report: string };

const digestOf = ({ reportId, unitId, verdict, wallMs, report }: Omit<Raw, 'digest'>): string =>
  rowDigest(reportId, unitId, verdict, wallMs, report);

export function createGateReportsTable(connection: Connection): GateReportsTable {
  const insert = connection.prepare(
    'INSERT INTO gate_reports (report_id, unit_id, verdict, wall_ms, report, digest) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const trim = connection.prepare(`DELETE FROM gate_reports WHERE unit_id = @unitId AND gate_report <=
    (SELECT gate_report FROM gate_reports WHERE unit_id = @unitId ORDER BY gate_report DESC LIMIT 1 OFFSET ${keptGateReports})
    AND report_id NOT IN (SELECT report_id FROM promotion_changes WHERE report_id IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM actors WHERE kind = 'worktreeGeneration' AND instr(snapshot, gate_reports.report_id) > 0)`);
  const from =
    'SELECT report_id AS reportId, unit_id AS unitId, verdict, wall_ms AS wallMs, report, digest FROM gate_reports';
  const byId = connection.prepare(`${from} WHERE report_id = ?`);
  const newest = connection.prepare(`${from} WHERE unit_id = ? ORDER BY gate_report DESC LIMIT 1`);
  const stored = (raw: unknown): StoredGateReport | undefined => {
    if (raw === undefined) return undefined;
    const row = raw as Raw;
    const intact = digestOf(row) === row.digest;
    return { ...row, intact, report: intact ? JSON.parse(row.report) : null };
  };

  return {
    insert(row) {
      const report = JSON.stringify(row.report);
      const digest = digestOf({ ...row, report });
      insert.run(row.reportId, row.unitId, row.verdict, row.wallMs, report, digest);
      trim.run({ unitId: row.unitId });
      return digest;
    },
    find: (reportId) => stored(byId.get(reportId)),
    newest: (unitId) => stored(newest.get(unitId)),
  };
}
