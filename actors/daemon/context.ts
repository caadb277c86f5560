/** What the handlers of calls work with: the runtime and its live services. */

import type { DrainExecutor } from '../drain/drainScope.ts';
import type { MetricsReport } from '../metrics/report.ts';
import type { Observer } from '../reconcile/observer.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { LoadedConfig } from './config.ts';
import type { EnclosingProofs } from './enclosing/service.ts';
import type { Explainer } from './explainer.ts';
import type { Findings } from './findings.ts';
import type { GuardianTalk } from './guardianTalk.ts';
import type { InspectorService } from './inspector/service.ts';
import type { LaunchCoordinator } from './launch/coordinator.ts';
import type { PendingLaunches } from './launch/pendingLaunches.ts';
import type { SlotPool } from './launch/slotPool.ts';
import type { RetentionLane } from './retention/lane.ts';
import type { Root } from './root.ts';
import type { ServicePlace } from './service/place.ts';
import type { AuthorityRecords } from './services/authorityRecords.ts';
import type { DeadlineService } from './services/deadlineService.ts';
import type { MeasuringService } from './services/measuringService.ts';
import type { OutputDisk } from './services/outputDisk.ts';
import type { ReceiptService } from './services/receiptService.ts';
import type { ResidentService } from './services/residentService.ts';
import type { HostLink } from './terminals/hostLink.ts';
import type { SessionDeadlines } from './terminals/sessionDeadlines.ts';
import type { SessionService } from './terminals/sessionService.ts';
import type { Exclusive } from './worker/exclusive.ts';
import type { WorkerService } from './worker/workerService.ts';

export interface DaemonContext extends Runtime {
  readonly loadedConfig: LoadedConfig;
  readonly pendingLaunches: PendingLaunches;
  readonly slotPool: SlotPool;
  readonly launches: LaunchCoordinator;
  readonly receipts: ReceiptService;
  readonly deadlines: DeadlineService;
  readonly drains: Pick<DrainExecutor, 'shorten'>;
  readonly outputDisk: OutputDisk;
  readonly findings: Findings;
  readonly explainer: Explainer;
  readonly guardians: GuardianTalk;
  readonly residents: ResidentService;
  readonly retention: RetentionLane;
  readonly root: Root;
  readonly service: ServicePlace;
  readonly ptyHostLink: HostLink;
  readonly sessions: SessionService;
  readonly sessionDeadlines: SessionDeadlines;
  readonly enclosing: EnclosingProofs;
  readonly exclusive: Exclusive;
  readonly workers: WorkerService;
  readonly observer: Observer;
  readonly measuring: MeasuringService;
  readonly authority: AuthorityRecords;
  readonly inspector: InspectorService;
  /** What was measured on this host; made anew each time. */
  readonly metrics: () => MetricsReport;
}

/** What a handler answers; `exitCode` 5 where something stays unverified (section F). */
export interface Answer<Data> {
  readonly data: Data;
  readonly warnings?: readonly string[];
  readonly exitCode?: number;
}
