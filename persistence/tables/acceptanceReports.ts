/** What acceptance runs observed on this host, as it was handed over (PROMO-08): the newest ones, bounded in number. */
import type { Connection } from '../connection.ts';
import { rowDigest } from '../digest.ts';

export interface StoredAcceptanceReport {
  readonly wallMs: number;
  /** JSON; its shape belongs to the acceptance run. Null when the row is not what was written. */
  readonly report: unknown;
  readonly digest: string;
}

export interface AcceptanceReportsTable {
  /** Returns the digest. */
  insert(wallMs: number, report: unknown): string;
  newest(): StoredAcceptanceReport | undefined;
}

const kept = 100;

export function createAcceptanceReportsTable(connection: Connection): AcceptanceReportsTable {
  const insert = connection.prepare('INSERT INTO acceptance_reports (wall_ms, report, digest) VALUES (?, ?, ?)');
  const trim = connection.prepare('DELETE FROM acceptance_reports WHERE acceptance_report <= ?');
  const newest = connection.prepare(`SELECT wall_ms AS wallMs, report, digest FROM acceptance_reports
    ORDER BY acceptance_report DESC LIMIT 1`);

  return {
    insert(wallMs, report) {
      const text = JSON.stringify(report);
      const digest = rowDigest(wallMs, text);
      const { lastInsertRowid } = insert.run(wallMs, text, digest);
      trim.run(Number(lastInsertRowid) - kept);
      return digest;
    },
    newest() {
      const row = newest.get() as { wallMs: number; report: string; digest: string } | undefined;
      if (row === undefined) return undefined;
      const isIntact = rowDigest(row.wallMs, row.report) === row.digest;
      return { ...row, report: isIntact ? JSON.parse(row.report) : null };
    },
  };
}
