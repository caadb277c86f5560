/** Verifies the contract of this host when it has to be, records it, and tells the generations (ruling 15). */
import { mkdirSync } from 'node:fs';
import { release, version } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../../persistence/store.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { CallResults } from '../api/results.ts';
import { contractName, tellGenerations } from './record.ts';
import { batteryVersion, doesNotCover, runSelfCheck } from './selfCheck.ts';

type ContractReport = CallResults['contract.check'];

interface Bench {
  readonly store: Store;
  readonly guardian: Runtime['guardian'];
  readonly stateDir: string;
  readonly wallMs: number;
}

const kernelOf = (): string => `${release()} ${version()}`.slice(0, 256);

/** Whether the recorded contract still speaks of this guardian, this kernel and this battery. */
export function isContractCurrent(store: Pick<Store, 'contracts'>, guardianDigest: string): boolean {
  const row = store.contracts.find(contractName);
  return (
    row !== undefined &&
    row.guardianDigest === guardianDigest &&
    row.kernel === kernelOf() &&
    row.batteryVersion === batteryVersion
  );
}

/** Runs the battery and records what it found; a failed one records no contract. */
export async function verifyContract({ store, guardian, stateDir, wallMs }: Bench): Promise<ContractReport> {
  const directory = join(stateDir, 'run');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const report = await runSelfCheck({ directory, guardianPath: guardian.path, installationId: store.installationId });
  store.write(() => {
    store.selfChecks.insert({ name: 'containment', wallMs, passed: report.passed, report: report.checks });
    if (!report.passed) return;
    store.contracts.put({
      contract: contractName,
      kernel: kernelOf(),
      guardianDigest: guardian.digest,
      batteryVersion,
      reportRef: `self_checks/containment/${wallMs}`,
      verifiedWallMs: wallMs,
    });
  });
  return { contract: contractName, passed: report.passed, checks: report.checks, doesNotCover };
}

/** Runs at start, beside everything else: a new kernel or a new guardian needs a new verification. */
export async function keepContractCurrent(runtime: Runtime): Promise<void> {
  const { store, guardian, places, clock } = runtime;
  if (!isContractCurrent(store, guardian.digest)) {
    await verifyContract({ store, guardian, stateDir: places.stateDir, wallMs: clock.now().wallMs });
  }
  await tellGenerations(runtime);
}
