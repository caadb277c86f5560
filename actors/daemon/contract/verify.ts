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
import { batteryVersion, doesNotCover, type Subset } from './battery.ts';
import { contractName, reportRefOf, subsetOf, tellGenerations } from './record.ts';
import { runSelfCheck, type SelfCheckReport } from './selfCheck.ts';

type ContractReport = CallResults['contract.verify'];

interface Bench {
  readonly store: Store;
  readonly guardian: Runtime['guardian'];
  readonly stateDir: string;
  readonly wallMs: number;
  readonly subset: Subset;
  /** Without it only the short battery can pass. */
  readonly adapter?: Pick<Runtime['adapter'], 'sameProgram'>;
  /** Calls it off; everything that was begun is over then. */
  readonly leaving?: AbortSignal;
}

const kernelOf = (): string => `${release()} ${version()}`.slice(0, 256);

/** Whether the recorded contract still speaks of this guardian, this kernel and this battery, as far as that was run. */
export function isContractCurrent(store: Pick<Store, 'contracts'>, guardianDigest: string): boolean {
  const row = store.contracts.find(contractName);
  return (
    row !== undefined &&
    row.guardianDigest === guardianDigest &&
    row.kernel === kernelOf() &&
    row.batteryVersion === batteryVersion
  );
}

/** Which battery the recorded contract rests on; undefined while there is none. */
export function verifiedSubset(store: Pick<Store, 'contracts'>): Subset | undefined {
  const row = store.contracts.find(contractName);
  return row && subsetOf(row.reportRef);
}

/** Runs the battery and records what it found; a failed one records no contract. */
export async function verifyContract(bench: Bench): Promise<ContractReport> {
  const report = await checked(bench);
  recordReport(bench, report);
  const { subset, passed, checks } = report;
  return { contract: contractName, batteryVersion, subset, passed, checks, doesNotCover };
}

/** Batteries in progress. A daemon that left before they are over would leave their processes behind. */
const inProgress = new Set<Promise<unknown>>();

export async function checksOver(): Promise<void> {
  await Promise.allSettled(inProgress);
}

function checked(bench: Omit<Bench, 'wallMs'>): Promise<SelfCheckReport> {
  const { store, guardian, stateDir, subset, adapter, leaving: signal } = bench;
  const directory = join(stateDir, 'run');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { installationId } = store;
  const guardianOf = adapter && ((pid: number) => adapter.sameProgram(pid));
  const given = { subset, directory, guardianPath: guardian.path, installationId, guardianOf };
  const running = runSelfCheck(signal === undefined ? given : { ...given, signal });
  inProgress.add(running);
  const over = (): void => void inProgress.delete(running);
  running.then(over, over);
  return running;
}

function recordReport({ store, guardian, wallMs }: Omit<Bench, 'stateDir' | 'subset'>, report: SelfCheckReport): void {
  store.write(() => {
    store.selfChecks.insert({ name: 'containment', wallMs, passed: report.passed, report: report.checks });
    if (!report.passed) return;
    store.contracts.put({
      contract: contractName,
      kernel: kernelOf(),
      guardianDigest: guardian.digest,
      batteryVersion,
      reportRef: reportRefOf(report.subset, wallMs),
      verifiedWallMs: wallMs,
    });
  });
}

type Keeping = Pick<
  Runtime,
  'store' | 'host' | 'guardian' | 'adapter' | 'places' | 'clock' | 'config' | 'log' | 'leaving'
>;

/**
 * Runs at start, beside everything else: a new kernel or a new guardian needs a new verification, and what `init` has
 * tried in short is tried in full. Nobody would ask again for what a busy store did not take, so it is brought until the
 * daemon leaves; the battery itself runs once. Throws what calls it off.
 */
export async function keepContractCurrent(runtime: Keeping): Promise<void> {
  const { store, guardian, places, clock, config, log, leaving } = runtime;
  const isCurrent = isContractCurrent(store, guardian.digest) && verifiedSubset(store) === 'full';
  const wallMs = clock.now().wallMs;
  let report = isCurrent ? undefined : await checked({ ...runtime, stateDir: places.stateDir, subset: 'full' });
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
      await paused(backoff.later('contract', clock.monoMs()), runtime);
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
