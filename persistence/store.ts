/**
 * The one SQLite file of an installation (JRN-13), opened for this process alone. Opening refuses whatever it does not
 * fully understand and changes nothing then: a missing file is only made on request, an unknown or damaged one is left as
 * it is, byte for byte.
 */
import { join, resolve } from 'node:path';
import { type BackupReport, backUp } from './backup.ts';
import type { Clock } from './clock.ts';
import { CommitMeter } from './commitMeter.ts';
import { type Connection, connect, type ReadBack } from './connection.ts';
import { mappingStoreErrors, StoreError, withStoreErrors } from './errors.ts';
import { checkFilesystem, type StoreWarning } from './filesystem.ts';
import { found, removeDraft } from './founding.ts';
import { inodeOf, type Restored, readIdentity, type StoreIdentity } from './identity.ts';
import { checkIntegrity, damagedMeasurement, type IntegrityReport, type Problem } from './integrity.ts';
import { acquireRuntimeLock, type RuntimeLock } from './lock.ts';
import { checkLog } from './logCheck.ts';
import { checkSchema, type Migration, migrate, migrations } from './migrations.ts';
import { exists, privateDirectory, privateFile } from './permissions.ts';
import { noteRefusal } from './refusals.ts';
import { createSpace, type Space } from './space.ts';
import { type AcceptanceReportsTable, createAcceptanceReportsTable } from './tables/acceptanceReports.ts';
import { type ActorsTable, createActorsTable } from './tables/actors.ts';
import { type BindingsTable, createBindingsTable } from './tables/bindings.ts';
import { type BudgetsTable, createBudgetsTable } from './tables/budgets.ts';
import { type CommitMinutesTable, createCommitMinutesTable } from './tables/commitMinutes.ts';
import { type ComparisonsTable, createComparisonsTable } from './tables/comparisons.ts';
import { type ContractsTable, createContractsTable } from './tables/contracts.ts';
import { type ContradictionsTable, createContradictionsTable } from './tables/contradictions.ts';
import { type CoverageGapsTable, createCoverageGapsTable } from './tables/coverageGaps.ts';
import { createDeadlinesTable, type DeadlinesTable } from './tables/deadlines.ts';
import { createDedupTable, type DedupTable } from './tables/dedup.ts';
import { createEndingsTable, type EndingsTable } from './tables/endings.ts';
import { createFreshnessTable, type FreshnessTable } from './tables/freshness.ts';
import { createGateReportsTable, type GateReportsTable } from './tables/gateReports.ts';
import { createJournalTable, type JournalTable } from './tables/journal.ts';
import { createLegacyRecordsTable, type LegacyRecordsTable } from './tables/legacyRecords.ts';
import { createLinksTable, type LinksTable } from './tables/links.ts';
import { createMetaTable, type MetaTable } from './tables/meta.ts';
import { createOutboxTable, type OutboxTable } from './tables/outbox.ts';
import { createPassesTable, type PassesTable } from './tables/passes.ts';
import { createProducersTable, type ProducersTable } from './tables/producers.ts';
import { createPromotionsTable, type PromotionsTable } from './tables/promotions.ts';
import { createRecoveriesTable, type RecoveriesTable } from './tables/recoveries.ts';
import { createRejectionsTable, type RejectionsTable } from './tables/rejections.ts';
import { createRepositoriesTable, type RepositoriesTable } from './tables/repositories.ts';
import { createRetentionsTable, type RetentionsTable } from './tables/retentions.ts';
import { createRetiredArtifactsTable, type RetiredArtifactsTable } from './tables/retiredArtifacts.ts';
import { createSelfChecksTable, type SelfChecksTable } from './tables/selfChecks.ts';
import { createTicketsTable, type TicketsTable } from './tables/tickets.ts';
import { createTotalsTable, type TotalsTable } from './tables/totals.ts';
import { createTransactions, type Transactions } from './transaction.ts';

export interface Store extends Transactions {
  readonly stateDir: string;
  readonly installationId: string;
  readonly nodeId: string;
  readonly epoch: number;
  /** Number of this start, for ids that must differ between starts (ruling 2). */
  readonly startNumber: number;
  readonly restored: Restored | undefined;
  /** This call made the store. */
  readonly created: boolean;
  readonly filesystem: string;
  readonly warnings: readonly StoreWarning[];
  readonly actors: ActorsTable;
  readonly journal: JournalTable;
  readonly dedup: DedupTable;
  readonly links: LinksTable;
  readonly outbox: OutboxTable;
  readonly bindings: BindingsTable;
  readonly repositories: RepositoriesTable;
  readonly rejections: RejectionsTable;
  readonly contracts: ContractsTable;
  readonly deadlines: DeadlinesTable;
  readonly selfChecks: SelfChecksTable;
  readonly producers: ProducersTable;
  readonly coverageGaps: CoverageGapsTable;
  readonly freshness: FreshnessTable;
  readonly passes: PassesTable;
  readonly legacyRecords: LegacyRecordsTable;
  readonly tickets: TicketsTable;
  readonly meta: MetaTable;
  readonly endings: EndingsTable;
  readonly retentions: RetentionsTable;
  readonly retiredArtifacts: RetiredArtifactsTable;
  readonly commitMinutes: CommitMinutesTable;
  readonly recoveries: RecoveriesTable;
  readonly contradictions: ContradictionsTable;
  readonly totals: TotalsTable;
  readonly promotions: PromotionsTable;
  readonly gateReports: GateReportsTable;
  readonly budgets: BudgetsTable;
  readonly acceptanceReports: AcceptanceReportsTable;
  readonly comparisons: ComparisonsTable;
  readonly space: Space;
  /** What the commits of this process cost, until it is written down. */
  readonly commits: CommitMeter;
  /** Copies the store into a new private file. Rejects with BackupTargetError or StoreError. */
  backup(toPath: string): Promise<BackupReport>;
  /** Of what a gate and its budgets are measured from; undefined while all of it is what was written. */
  damagedMeasurement(): Problem | undefined;
  check(): Promise<IntegrityReport>;
  /** Closes the database, then gives up the lock. */
  close(): void;
}

export interface StoreOptions {
  readonly stateDir: string;
  readonly clock: Clock;
  /** Make the directory and the store when there are none. */
  readonly create: boolean;
  /** sqliteBusyMs: how long a write waits for a foreign lock; 250 by default. */
  readonly busyMs?: number;
  /** Stand-ins for what a kernel or SQLite may answer; for tests. */
  readonly faults?: {
    readonly filesystemType?: number;
    readonly readBack?: ReadBack;
    readonly migrations?: readonly Migration[];
  };
}

/** Throws StoreError; see errors.ts for what each code means. */
export function openStore(options: StoreOptions): Store {
  const { clock, create, faults } = options;
  const stateDir = resolve(options.stateDir);
  const files = { database: join(stateDir, 'custody.db'), token: join(stateDir, 'custody.start') };
  const warnings = privateDirectory(stateDir, create);
  const filesystem = checkFilesystem(stateDir, faults?.filesystemType);
  warnings.push(...filesystem.warnings);
  if (!create && !exists(files.database)) throw new StoreError('store_missing', `there is no store in ${stateDir}`);
  const lock = lockFor(stateDir);
  let connection: Connection | undefined;
  try {
    warnings.push(...lock.warnings);
    const created = prepareFile(files, clock, warnings);
    const known = faults?.migrations ?? migrations;
    warnings.push(...checkLog(files.database));
    checkSchema(files.database, known);
    connection = connect(files.database, { busyMs: options.busyMs, readBack: faults?.readBack });
    migrate(connection, clock, known);
    return assemble({ connection, stateDir, files, clock, warnings, created, filesystem: filesystem.name, lock });
  } catch (thrown) {
    connection?.close();
    lock.release();
    throw thrown;
  }
}

function lockFor(stateDir: string): RuntimeLock {
  try {
    return acquireRuntimeLock(stateDir);
  } catch (thrown) {
    if (thrown instanceof StoreError && thrown.code === 'runtime_busy') noteRefusal(stateDir);
    throw thrown;
  }
}

/** Returns whether the database had to be made. */
function prepareFile(files: Files, clock: Clock, warnings: StoreWarning[]): boolean {
  const created = !exists(files.database);
  if (created) found({ ...files, clock });
  else removeDraft(files.database);
  for (const suffix of ['', '-wal', '-shm', '-journal']) warnings.push(...privateFile(files.database + suffix));
  return created;
}

interface Files {
  readonly database: string;
  readonly token: string;
}

interface Parts {
  readonly connection: Connection;
  readonly stateDir: string;
  readonly files: Files;
  readonly clock: Clock;
  readonly warnings: StoreWarning[];
  readonly created: boolean;
  readonly filesystem: string;
  readonly lock: { release(): void };
}

function assemble({ connection, files, clock, lock, ...about }: Parts): Store {
  return mappingStoreErrors(() => {
    const meta = withStoreErrors(createMetaTable(connection));
    const identity = readIdentity(meta, files);
    if (identity.restored) about.warnings.push(restoredWarning(identity.restored));
    const actors = withStoreErrors(createActorsTable(connection));
    const journal = withStoreErrors(createJournalTable(connection));
    const outbox = withStoreErrors(createOutboxTable(connection));
    const { installationId, nodeId, epoch, startNumber, restored } = identity;
    const commits = new CommitMeter(() => clock.now().wallMs);
    return {
      ...about,
      ...recordingStart(inPlace(createTransactions(connection, commits), files.database), identity),
      installationId,
      nodeId,
      epoch,
      startNumber,
      restored,
      meta,
      actors,
      journal,
      outbox,
      dedup: withStoreErrors(createDedupTable(connection)),
      links: withStoreErrors(createLinksTable(connection)),
      bindings: withStoreErrors(createBindingsTable(connection)),
      repositories: withStoreErrors(createRepositoriesTable(connection)),
      rejections: withStoreErrors(createRejectionsTable(connection)),
      contracts: withStoreErrors(createContractsTable(connection)),
      deadlines: withStoreErrors(createDeadlinesTable(connection)),
      selfChecks: withStoreErrors(createSelfChecksTable(connection)),
      producers: withStoreErrors(createProducersTable(connection)),
      coverageGaps: withStoreErrors(createCoverageGapsTable(connection)),
      freshness: withStoreErrors(createFreshnessTable(connection)),
      passes: withStoreErrors(createPassesTable(connection)),
      legacyRecords: withStoreErrors(createLegacyRecordsTable(connection)),
      tickets: withStoreErrors(createTicketsTable(connection)),
      endings: withStoreErrors(createEndingsTable(connection)),
      retentions: withStoreErrors(createRetentionsTable(connection)),
      retiredArtifacts: withStoreErrors(createRetiredArtifactsTable(connection)),
      commitMinutes: withStoreErrors(createCommitMinutesTable(connection)),
      recoveries: withStoreErrors(createRecoveriesTable(connection)),
      contradictions: withStoreErrors(createContradictionsTable(connection)),
      totals: withStoreErrors(createTotalsTable(connection)),
      promotions: withStoreErrors(createPromotionsTable(connection)),
      gateReports: withStoreErrors(createGateReportsTable(connection)),
      budgets: withStoreErrors(createBudgetsTable(connection)),
      acceptanceReports: withStoreErrors(createAcceptanceReportsTable(connection)),
      comparisons: withStoreErrors(createComparisonsTable(connection)),
      space: withStoreErrors(createSpace(connection)),
      commits,
      backup: (toPath) => backUp(connection, toPath, clock.now().wallMs),
      damagedMeasurement: () => mappingStoreErrors(() => damagedMeasurement(connection)),
      check: () => checkIntegrity({ connection, actors, journal, outbox, meta }),
      close() {
        connection.close();
        lock.release();
      },
    };
  });
}

/**
 * A database that was removed or moved takes every commit, and nobody finds it again (JRN-10): SQLite looks only when it
 * opens the file. What happens between this look and the COMMIT behind it stays unnoticed until the next one.
 */
function inPlace({ write, writeUncounted, savepoint }: Transactions, database: string): Transactions {
  const inode = inodeOf(database);
  function looked<T>(work: () => T): T {
    const result = work();
    if (inode !== (exists(database) ? inodeOf(database) : undefined))
      throw new StoreError('store_io', `${database} was moved or removed while it was open`);
    return result;
  }
  return {
    savepoint,
    write: (work) => write(() => looked(work)),
    writeUncounted: (work) => writeUncounted(() => looked(work)),
  };
}

/** A start is recorded with its first write: a reader changes nothing, and a full disk can still be read. */
function recordingStart({ write, writeUncounted, savepoint }: Transactions, identity: StoreIdentity): Transactions {
  let recorded = false;
  function first<T>(by: Transactions['write'], work: () => T): T {
    const result = by(() => {
      identity.record();
      return work();
    });
    recorded = true;
    identity.recorded();
    return result;
  }
  return {
    savepoint,
    write: (work) => (recorded ? write(work) : first(write, work)),
    writeUncounted: (work) => (recorded ? writeUncounted(work) : first(writeUncounted, work)),
  };
}

function restoredWarning(restored: Restored): StoreWarning {
  return {
    code: 'store_restored',
    message: `this store was restored (${restored}): what it shows as pending is looked into before anything is done again`,
  };
}
