/** Exit-proof contracts that hold on this host, one row per contract (ruling 15). */
import type { Connection } from '../connection.ts';

export interface VerifiedContract {
  /** e.g. `scope-exit-proof/1`. */
  readonly contract: string;
  readonly kernel: string;
  readonly guardianDigest: string;
  readonly batteryVersion: number;
  readonly reportRef: string;
  readonly verifiedWallMs: number;
}

export interface ContractsTable {
  /** Replaces what was known of the contract. */
  put(contract: VerifiedContract): void;
  find(contract: string): VerifiedContract | undefined;
}

export function createContractsTable(connection: Connection): ContractsTable {
  const put = connection.prepare(`INSERT INTO contracts
    (contract, kernel, guardian_digest, battery_version, report_ref, verified_wall_ms) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (contract) DO UPDATE SET kernel = excluded.kernel, guardian_digest = excluded.guardian_digest,
      battery_version = excluded.battery_version, report_ref = excluded.report_ref,
      verified_wall_ms = excluded.verified_wall_ms`);
  const find = connection.prepare(`SELECT contract, kernel, guardian_digest AS guardianDigest,
    battery_version AS batteryVersion, report_ref AS reportRef, verified_wall_ms AS verifiedWallMs
    FROM contracts WHERE contract = ?`);

  return {
    put: (row) =>
      void put.run(row.contract, row.kernel, row.guardianDigest, row.batteryVersion, row.reportRef, row.verifiedWallMs),
    find: (contract) => find.get(contract) as VerifiedContract | undefined,
  };
}
