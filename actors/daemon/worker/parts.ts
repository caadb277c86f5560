/** What the daemon's side of the scheduling worker works with. */
import type { WorkerSnapshot } from '../../../machines/workerIncarnation.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { ToWorker } from '../../worker/messages.ts';
import type { assertAdmitted } from '../launch/admission.ts';
import type { LaunchCoordinator } from '../launch/coordinator.ts';
import type { PendingLaunches } from '../launch/pendingLaunches.ts';
import type { DeadlineService } from '../services/deadlineService.ts';
import type { OutputDisk } from '../services/outputDisk.ts';

export interface CheckParts extends Runtime {
  readonly launches: Pick<LaunchCoordinator, 'request'>;
  readonly pendingLaunches: PendingLaunches;
  readonly deadlines: Pick<DeadlineService, 'record' | 'arm' | 'disarm'>;
  readonly outputDisk: OutputDisk;
  readonly admission: Parameters<typeof assertAdmitted>[0];
  readonly isAdmitting: () => boolean;
  /** The record of the worker that is connected. */
  readonly workerIdentity: () => Pick<WorkerSnapshot['context'], 'scopeId' | 'launchTokenHash'>;
  readonly say: (message: ToWorker) => boolean;
}
