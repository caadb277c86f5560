/** Builds a daemon out of its parts, in the order in which they may trust each other, and takes it down again. */
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import type { Logger } from 'pino';
import { protocol } from '../../machines/protocol.ts';
import { openStore, type Store } from '../../persistence/store.ts';
import { guardianBinary, guardianDigest } from '../../pty/launch/binary.ts';
import { createDrainExecutor } from '../drain/drainScope.ts';
import type { Failpoint } from '../host/failpoint.ts';
import { createHost } from '../host/host.ts';
import type { MetricsReport } from '../metrics/report.ts';
import type { Clock } from '../observe/clock.ts';
import type { LinuxAdapter } from '../observe/linux/adapter.ts';
import { createObserver, type Observer } from '../reconcile/observer.ts';
import { intact } from '../runtime/actorAccess.ts';
import { operatorKey } from '../runtime/credentials.ts';
import { isOrdinary, pickEnvironment } from '../runtime/environment.ts';
import { daemonLeaving } from '../runtime/operatingError.ts';
import type { Places } from '../runtime/places.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { becomeReachable, type Reachability } from './api/reachability.ts';
import { type ApiServer, callsAnswered, createApi, createApiServer } from './api/server.ts';
import { authorise } from './authorise.ts';
import { isPausedBefore } from './commands/lifecycle.ts';
import { followCommits } from './commitFollowers.ts';
import { type LoadedConfig, loadConfig, observerPace } from './config.ts';
import type { DaemonContext } from './context.ts';
import { endInterruptedChecks } from './contract/selfCheck.ts';
import { checksOver, keepContractCurrent } from './contract/verify.ts';
import { dispatch, openStream, type ServingContext } from './dispatch.ts';
import { registerEffects } from './effects.ts';
import { EnclosingProofs } from './enclosing/service.ts';
import { describe } from './errorForLog.ts';
import type { Explainer } from './explainer.ts';
import { Findings } from './findings.ts';
import { createGuardianTalk } from './guardianTalk.ts';
import { inspectedDaemon } from './inspector/inspected.ts';
import type { InspectorPort } from './inspector/port.ts';
import { InspectorService } from './inspector/service.ts';
import { LaunchCoordinator } from './launch/coordinator.ts';
import { type LaunchPoint, PendingLaunches } from './launch/pendingLaunches.ts';
import { SlotPool } from './launch/slotPool.ts';
import { sweepScopes } from './launch/strayOutput.ts';
import { createWorkGroup, removeWorkGroup } from './launch/workGroup.ts';
import { createLiveSystem } from './liveSystem.ts';
import { settleQuarantines } from './quarantine/settle.ts';
import { rebuildMissingScopes } from './rebuilt.ts';
import { type RecoveryCounts, recover } from './recovery.ts';
import { markRestored, settleRestored } from './restored.ts';
import { RetentionLane } from './retention/lane.ts';
import { servicePlace } from './service/place.ts';
import { AuthorityRecords } from './services/authorityRecords.ts';
import { createDeadlineService } from './services/deadlineService.ts';
import { MeasuringService } from './services/measuringService.ts';
import { createObservationService } from './services/observationService.ts';
import { createOutputDisk } from './services/outputDisk.ts';
import { createReceiptService } from './services/receiptService.ts';
import { ResidentService } from './services/residentService.ts';
import { SpoolService } from './services/spoolService.ts';
import { type StoreWatch, watchStore } from './services/storeWatch.ts';
import { type Shutdown, takeUpShutdown } from './shutdown/shutdown.ts';
import { assertInPlace, recordPlace } from './statePlace.ts';
import { HostLink } from './terminals/hostLink.ts';
import { createSessionDeadlines } from './terminals/sessionDeadlines.ts';
import { SessionService } from './terminals/sessionService.ts';
import { spendTickets, withdrawDoubtful } from './tickets/revocation.ts';
import type { Tracing } from './tracing.ts';
import { Exclusive } from './worker/exclusive.ts';
import { RemoteLaunches } from './worker/remoteLaunches.ts';
import { WorkerService } from './worker/workerService.ts';

export interface DaemonOptions {
  readonly places: Places;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  /** The unit under which the service manager has started this process, as its unit file says. */
  readonly service?: string | undefined;
  /** The entry module of the process that holds terminals. */
  readonly ptyHostProgram: string;
  /** The entry module of the scheduling worker. */
  readonly workerProgram: string;
  /** The entry module of the thread that compares results with schemas. */
  readonly schemaWorker: string;
  /** What `explain` answers with; made above this folder. */
  readonly explainer: Explainer;
  /** Follows every commit; without it nothing is traced. */
  readonly tracing?: Tracing;
  /** What serves the inspector's page; without it there is none. */
  readonly inspector?: InspectorPort | undefined;
  /** Chosen by the entry module, once the installation is known (ID-04). */
  readonly adapterFor: (installationId: Store['installationId']) => LinuxAdapter;
  /** For tests: what promotion compares with budgets, instead of what was measured here in the last day. */
  readonly metrics?: () => MetricsReport;
  /**
   * For tests: called where a crash, or a pause of a launch, has to be harmless, with the scope that is launched or the
   * type of the event that was journaled. No program that ships sets it.
   */
  readonly failpoint?: (point: Failpoint | LaunchPoint, of?: string) => void | Promise<void>;
}

export interface Daemon {
  /** Resolves when a stop was asked for and answered, with the exit status that the process ends with. */
  readonly left: Promise<number>;
  /** Ends this process's part and nothing else: guardians and their work go on (ruling 21). */
  close(): Promise<void>;
}

/** What a busy machine needs to start a Node. */
const hostStartMs = 30_000;

/** Throws StoreError, `state_copied`, `state_moved`, `guardian_missing` or `config_invalid`; nothing is left open then. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const loadedConfig = loadConfig(options.places, options.env);
  const { clock, version } = options;
  const { sqliteBusyMs: busyMs } = loadedConfig.config;
  const opened = openStore({ stateDir: options.places.stateDir, clock, create: false, busyMs });
  try {
    assertInPlace(opened, options.places);
  } catch (error) {
    opened.close();
    throw error;
  }
  // A write of its own: whatever this start journals later is numbered after everything that came before.
  const watch = watchStore(opened, clock, () => {
    opened.meta.set('daemon.version', version);
    markRestored(opened);
    recordPlace(opened, options.places);
  });
  try {
    return await assemble(options, watch, loadedConfig);
  } catch (error) {
    opened.close();
    throw error;
  }
}

async function assemble(options: DaemonOptions, watch: StoreWatch, loadedConfig: LoadedConfig): Promise<Daemon> {
  const { places, clock, log, failpoint = () => {} } = options;
  const { store } = watch;
  for (const directory of [places.runDir, places.scopesDir, places.transcriptsDir]) privateDirectory(directory);
  watch.probe();
  const path = await guardianBinary();
  const leaving = new AbortController();
  const host = createHost({
    ...protocol,
    store,
    clock,
    failpoint,
    limits: hostLimits(loadedConfig),
    onFault: ({ code, actor, type, error }) => log.error({ code, actor, type, error: describe(error) }, 'fault'),
  });
  const runtime: Runtime = {
    places,
    config: loadedConfig.config,
    store,
    storeFailure: watch.failure,
    host,
    adapter: options.adapterFor(store.installationId),
    clock,
    guardian: { path, digest: guardianDigest(path) },
    schemaWorker: options.schemaWorker,
    ptyHost: {
      program: options.ptyHostProgram,
      limits: { finalDrainMs: loadedConfig.config.finalDrainMs },
      startMs: hostStartMs,
    },
    worker: { program: options.workerProgram, environment: pickEnvironment(options.env, isOrdinary) },
    workGroup: createWorkGroup(store.installationId, loadedConfig.config.workGroup),
    log,
    version: options.version,
    startedMonoMs: clock.monoMs(),
    leaving: leaving.signal,
  };
  const tracing = options.tracing?.(runtime);
  const service = servicePlace(options.env, options.service);
  const inspector = new InspectorService({ ...runtime, inspector: options.inspector });
  const { explainer, metrics } = options;
  const parts = { ...runtime, loadedConfig, service, explainer, inspector, metrics };
  const context = wire(parts, new PendingLaunches(failpoint), (point) => void failpoint(point));
  watch.onChange((event) => {
    if (event.type === 'store.failed') context.outputDisk.look();
    context.root.send(event);
  });
  const recovered = await takeUp(context);
  host.effects.start();
  context.deadlines.resume();
  context.sessionDeadlines.resume();
  const { left, leave } = departure();
  if (!takeUpShutdown({ ...context, leave })) context.root.send({ type: 'recovery.completed' });
  await startWorkers(context);
  const served = await serve({ ...context, recovered, leave }, options);
  void context.slotPool.fill();
  new SpoolService(context).start();
  context.retention.start();
  context.measuring.serving();
  keepContract(runtime);
  return {
    left,
    async close() {
      leaving.abort(daemonLeaving());
      await checksOver();
      await takeDown(context, served, () => tracing?.finish());
      await tracing?.close();
    },
  };
}

/** Learns what became of everything, before anything new is begun. */
async function takeUp(context: DaemonContext): Promise<RecoveryCounts> {
  await rebuildMissingScopes(context);
  await sweepScopes(context);
  await settleInterrupted(context);
  await recoverSessions(context);
  const recovered = await recover(context);
  context.authority.start();
  spendTickets(context);
  withdrawDoubtful(context);
  await context.enclosing.start();
  await context.sessions.settleWithoutStatus();
  await settleRestored(context);
  return recovered;
}

/** What an earlier daemon was in the middle of that no actor knows of. */
async function settleInterrupted(runtime: Runtime): Promise<void> {
  await endInterruptedChecks({ directory: runtime.places.runDir, guardianPath: runtime.guardian.path });
  await settleQuarantines(runtime);
}

function departure(): Pick<Daemon, 'left'> & Shutdown {
  let leave!: Shutdown['leave'];
  const left = new Promise<number>((resolve) => {
    leave = (status = 0) => resolve(status);
  });
  return { left, leave };
}

const hostLimits = ({ config }: LoadedConfig) => ({
  payloadBytes: config.payloadMaxBytes,
  retryFirstMs: config.retryBackoffMs,
  retryLongestMs: config.retryBackoffLongestMs,
});

function keepContract(runtime: Runtime): void {
  void keepContractCurrent(runtime).catch((error) => {
    if (error !== runtime.leaving.reason)
      runtime.log.error({ error: describe(error) }, 'the contract was not verified');
  });
}

/** Whatever keeps the worker from being looked after keeps nobody else from working. */
async function startWorkers({ workers, log }: DaemonContext): Promise<void> {
  try {
    await workers.start();
  } catch (error) {
    log.error({ error: describe(error) }, 'the scheduling worker could not be looked after');
  }
}

/** A host that does not answer is not gone, and the daemon serves without it: its sessions are shown as they were. */
async function recoverSessions({ sessions, log }: DaemonContext): Promise<void> {
  try {
    await sessions.recover();
  } catch (error) {
    log.error({ error: describe(error) }, 'terminals could not be looked after');
  }
}

const dayMs = 86_400_000;

type Given = Pick<DaemonContext, 'loadedConfig' | 'service' | 'inspector' | 'explainer'>;
type Wired = Runtime & Given & { readonly metrics: DaemonOptions['metrics'] };

/** Everything between the store and the socket. Receipts are watched before anything can be launched. */
function wire(runtime: Wired, pendingLaunches: PendingLaunches, failpoint: (point: Failpoint) => void): DaemonContext {
  const findings = new Findings(
    () => runtime.clock.now().wallMs,
    (scopeId) => isProved(runtime, scopeId),
  );
  const receipts = createReceiptService({ ...runtime, findings });
  const deadlines = createDeadlineService(runtime);
  const guardians = createGuardianTalk({ ...runtime, findings });
  const observer = observerOf(runtime);
  const measuring = new MeasuringService({ ...runtime, recorder: observer.metrics.recorder });
  const observation = createObservationService({ ...runtime, findings, receipts, guardians, observed: observer.runs });
  const outputDisk = createOutputDisk(runtime);
  const slotPool = new SlotPool(runtime.places.scopesDir);
  const ptyHostLink = new HostLink(runtime);
  const isLaunching = (scopeId: string) => pendingLaunches.get(scopeId) !== undefined;
  const sessions = new SessionService({ ...runtime, link: ptyHostLink, isLaunching });
  const sessionDeadlines = createSessionDeadlines({ ...runtime, sessions });
  const residents = new ResidentService({ ...runtime, guardians, closeTerminal: (id) => sessions.closeTerminalOf(id) });
  const remoteLaunches = new RemoteLaunches(runtime.clock);
  const launches = new LaunchCoordinator(
    { ...runtime, slotPool, terminals: sessions, workers: remoteLaunches },
    pendingLaunches,
  );
  const root = createLiveSystem({
    ...runtime,
    ...{ receipts, deadlines, sessionDeadlines, observation, measuring, outputDisk, residents },
    inspector: runtime.inspector.logic,
    pausedBefore: isPausedBefore(runtime),
  });
  const enclosing = new EnclosingProofs({ ...runtime, receipts, findings });
  const exclusive = new Exclusive(() => runtime.clock.now().wallMs);
  const working = { ...runtime, launches, pendingLaunches, deadlines, outputDisk, remoteLaunches, exclusive };
  const workers = new WorkerService({ ...working, root: () => root });
  const drains = createDrainExecutor({ ...runtime, receipts, launches });
  registerEffects(runtime.host, { launches, drain: drains.drain });
  const { config } = runtime.loadedConfig;
  const lastDay = () => ({ sinceMs: runtime.clock.now().wallMs - dayMs });
  const context: DaemonContext = {
    ...runtime,
    ...{ outputDisk, findings, receipts, deadlines, pendingLaunches, slotPool, launches, drains, root, ptyHostLink },
    ...{ sessions, sessionDeadlines, enclosing, exclusive, workers, guardians, residents, observer, measuring },
    retention: new RetentionLane({ ...runtime, config, root, pendingLaunches, failpoint }),
    metrics: runtime.metrics ?? (() => observer.metrics.report(lastDay())),
    authority: new AuthorityRecords(runtime),
  };
  followCommits(context);
  root.start();
  return context;
}

function isProved({ host }: Pick<Runtime, 'host'>, scopeId: string): boolean {
  const scope = intact(host, 'executionScope', scopeId);
  return scope !== undefined && scope !== 'corrupt' && scope.hasTag('capacityReleased');
}

const observerOf = ({ config, places, ...runtime }: Runtime): Observer =>
  createObserver({
    ...runtime,
    spoolDir: places.spoolDir,
    ...observerPace(config),
  });

interface Served {
  readonly server: ApiServer;
  readonly reachability: Reachability;
}

async function serve(context: ServingContext, { places, env, version, log }: DaemonOptions): Promise<Served> {
  const { startNumber, installationId } = context.store;
  const { pid } = process;
  context.inspector.serves(inspectedDaemon(context), () => context.root.system.get('inspector'));
  const service = context.service.isServed ? context.service.unit : null;
  const api = createApi({
    hello: () => ({ protocol: 1, version, pid, startNumber, stateDir: places.stateDir, service }),
    authorise: (name, credential) => authorise(context, name, credential),
    call: (command, args, signal) => dispatch(context, command, { args, signal }),
    exposition: () => context.observer.metrics.exposition(),
    stream: (command, args, signal) => openStream(context, command, { args, signal }),
    onBug: (error) => log.error({ error: describe(error) }, 'a call failed unexpectedly'),
  });
  const server = createApiServer(api);
  makeKey(context);
  const reachability = await becomeReachable({
    server,
    places,
    env,
    installationId,
    daemon: { pid, version, startNumber },
    tell: ({ renewed, error }) =>
      error === undefined
        ? log.warn({ renewed }, 'was taken away and is there again')
        : log.error({ error: describe(error) }, 'cannot be reached'),
  });
  return { server, reachability };
}

/** It has to be there before anybody can ask. A daemon without one looks after the work all the same, and says why it refuses. */
function makeKey({ places, log }: ServingContext): void {
  try {
    operatorKey(places);
  } catch (error) {
    log.error({ error: describe(error) }, 'the key of the operator cannot be used');
  }
}

async function takeDown(
  context: DaemonContext,
  { server, reachability }: Served,
  beforeStoreCloses: () => void,
): Promise<void> {
  await reachability.stop();
  await context.inspector.close();
  server.close();
  await launchesOver(context, server);
  context.ptyHostLink.close();
  await context.workers.close();
  await context.retention.close();
  server.closeAllConnections();
  rmSync(reachability.socket, { force: true });
  context.root.stop();
  context.receipts.commands.end();
  context.deadlines.commands.end();
  context.sessionDeadlines.commands.end();
  await context.host.close();
  beforeStoreCloses();
  await context.slotPool.close();
  removeWorkGroup(context.workGroup);
  context.adapter.close();
  context.measuring.close();
  context.store.close();
  // Last, because whoever waits for the end of this daemon waits for this.
  rmSync(context.places.rendezvousFile, { force: true });
}

/**
 * Launches on their way are carried to their end, also for callers who have left, and every call gets its answer. The
 * bound is what handshake, gate and the end of a silent guardian may take: without it a store that takes nothing any
 * more would keep the process that waits for it.
 */
async function launchesOver({ clock, config, pendingLaunches }: DaemonContext, server: ApiServer): Promise<void> {
  let stopClock: (() => void) | undefined;
  const bound = new Promise<void>((resolve) => {
    stopClock = clock.wakeAt(clock.monoMs() + 3 * config.handshakeMs, resolve);
  });
  await Promise.race([Promise.all([callsAnswered(server), pendingLaunches.over()]), bound]);
  stopClock?.();
}

function privateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
}
