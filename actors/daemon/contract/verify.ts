/** Verifies the contract of this host when it has to be, records it, and tells the generations (ruling 15). */
import { mkdirSync } from 'node:fs';
import { release, version } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../../persistence/store.ts';
import { Backoff } from '../../observe/streams/backoff.ts';
import type { OperatingError } from '../../runtime/operatingError.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { CallResults } from '../api/results.ts';
import { retryPauses } from '../config.ts';
import { contractName, tellGenerations } from './record.ts';
import { batteryVersion, doesNotCover, runSelfCheck } from './selfCheck.ts';

type SelfCheckReport = Awaited<ReturnType<typeof runSelfCheck>>;

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
  const report = await checked({ store, guardian, stateDir });
  recordReport({ store, guardian, wallMs }, report);
  return { contract: contractName, passed: report.passed, checks: report.checks, doesNotCover };
}

function checked({ store, guardian, stateDir }: Omit<Bench, 'wallMs'>): Promise<SelfCheckReport> {
  const directory = join(stateDir, 'run');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return runSelfCheck({ directory, guardianPath: guardian.path, installationId: store.installationId });
}

function recordReport({ store, guardian, wallMs }: Omit<Bench, 'stateDir'>, report: SelfCheckReport): void {
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
}

type Keeping = Pick<Runtime, 'store' | 'host' | 'guardian' | 'places' | 'clock' | 'config' | 'log' | 'leaving'>;

/**
 * Runs at start, beside everything else: a new kernel or a new guardian needs a new verification. Nobody would ask again
 * for what a busy store did not take, so it is brought until the daemon leaves; the battery itself runs once.
 */
export async function keepContractCurrent(runtime: Keeping): Promise<void> {
  const { store, guardian, places, clock, config, log, leaving } = runtime;
  const isCurrent = isContractCurrent(store, guardian.digest);
  const wallMs = clock.now().wallMs;
  let report = isCurrent ? undefined : await checked({ store, guardian, stateDir: places.stateDir });
  const backoff = new Backoff(retryPauses(config));
  while (!leaving.aborted) {
    try {
      if (report !== undefined) recordReport({ store, guardian, wallMs }, report);
      report = undefined;
      return await tellGenerations(runtime);
    } catch (error) {
      const { code, retryable } = error as Partial<OperatingError>;
      if (retryable !== true) throw error;
      log.warn({ code, what: 'contract' }, 'a report could not be committed');
      await paused(backoff.failed('contract', clock.monoMs()), runtime);
    }
  }
}

/** Ends early when the daemon leaves. */
function paused(untilMonoMs: number, { clock, leaving }: Pick<Keeping, 'clock' | 'leaving'>): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stop();
      leaving.removeEventListener('abort', done);
      resolve();
    };
    const stop = clock.wakeAt(untilMonoMs, done);
    leaving.addEventListener('abort', done);
  });
}
