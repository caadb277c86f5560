/** Connects the live root machine with the streams that it invokes and with the services that take their reports. */

import { deadlines$ } from '../observe/streams/deadlines.ts';
import { everyMs$, reporting$ } from '../observe/streams/input.ts';

import { observations$ } from '../observe/streams/observations.ts';
import { receipts$ } from '../observe/streams/receipts.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { retryPauses } from './config.ts';
import type { inspectorMachine } from './inspector/machine.ts';
import { createRoot, type Root } from './root.ts';
import type { DeadlineService } from './services/deadlineService.ts';
import type { MeasuringService } from './services/measuringService.ts';
import type { ObservationService } from './services/observationService.ts';
import type { OutputDisk } from './services/outputDisk.ts';
import type { ReceiptService } from './services/receiptService.ts';
import type { ResidentService } from './services/residentService.ts';
import type { SessionDeadlines } from './terminals/sessionDeadlines.ts';

interface Parts extends Pick<Runtime, 'adapter' | 'clock' | 'config' | 'log'> {
  readonly receipts: ReceiptService;
  readonly deadlines: DeadlineService;
  readonly observation: ObservationService;
  readonly sessionDeadlines: SessionDeadlines;
  readonly measuring: Pick<MeasuringService, 'onLane'>;
  readonly outputDisk: OutputDisk;
  readonly residents: Pick<ResidentService, 'look'>;
  readonly inspector: typeof inspectorMachine;
  readonly pausedBefore: boolean;
}

export function createLiveSystem(parts: Parts): Root {
  const { adapter, clock, config, log, receipts, deadlines, sessionDeadlines, observation, outputDisk } = parts;
  const logged = (what: string, work: Promise<void>) =>
    void work.catch((error: unknown) =>
      log.error({ code: (error as { code?: unknown })?.code, what }, 'a report could not be committed'),
    );
  return createRoot(
    {
      receipts: () => reporting$('receipt.reported', receipts$({ scopes$: receipts.commands.values$, clock })),
      deadlines: () =>
        reporting$(
          'deadline.reported',
          deadlines$({ commands$: deadlines.commands.values$, clock, graceMs: config.graceMs }),
        ),
      observations: () =>
        reporting$(
          'lane.reported',
          observations$({
            adapter,
            clock,
            due: observation.due,
            deliver: observation.deliver,
            passes$: everyMs$(config.observeIntervalMs),
            batch: config.reconcileBatch,
            timeBudgetMs: config.reconcileTimeMs,
            pauses: retryPauses(config),
          }),
        ),
      sessionDeadlines: () =>
        reporting$(
          'sessionDeadline.reported',
          deadlines$({ commands$: sessionDeadlines.commands.values$, clock, graceMs: config.graceMs }),
        ),
      inspector: parts.inspector,
      onReceipt: (event) => logged('receipt', receipts.onEvent(event)),
      onSessionDeadline: (signal) => logged('session deadline', sessionDeadlines.onSignal(signal)),
      onDeadline: (signal) => logged('deadline', deadlines.onSignal(signal)),
      onLane: (event) => {
        parts.measuring.onLane(event);
        if (event.type === 'passEnded') {
          outputDisk.look();
          parts.residents.look();
        }
        if (event.type === 'contextUnavailable')
          log.warn({ reason: event.reason }, 'processes cannot be observed at present');
        if (event.type === 'deliveryFailed')
          log.error({ code: (event.error as { code?: unknown })?.code }, 'observations could not be committed');
      },
    },
    parts.pausedBefore,
  );
}
