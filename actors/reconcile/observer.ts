/**
 * Everything that observing does with a store: notes in, looks at processes, and what is known. It is the same in a daemon
 * and in a short invocation without one (INT-11), and holds nothing that could launch, signal or remove anything (INT-03).
 */

import type { Store } from '../../persistence/store.ts';
import type { Host } from '../host/api.ts';
import { closeGapsOfEarlierBoots } from '../ingest/coverage.ts';
import { Intake } from '../ingest/intake.ts';
import type { LegacyAnswer } from '../ingest/legacy/decision.ts';
import { LegacyIntake, type LegacyRequest } from '../ingest/legacy/intake.ts';
import { placingIn } from '../ingest/placing.ts';
import { type NoteSink, storeSink } from '../ingest/sink.ts';
import { type SpoolReport, takeSpool } from '../ingest/takeSpool.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import type { Clock } from '../observe/clock.ts';
import type { LinuxAdapter } from '../observe/linux/adapter.ts';
import { type ClaimsReport, confirmClaims } from './claims.ts';
import { type CoverageReport, type CoverageRequest, coverageReport } from './coverage.ts';
import { createObservedRuns, type ObservedRuns } from './observedRuns.ts';
import { type PassReport, reconcileOnce } from './pass.ts';
import { type ObserveStatus, observeStatus } from './status.ts';

export interface ObserverParts {
  readonly host: Host;
  readonly store: Store;
  readonly clock: Clock;
  readonly adapter: LinuxAdapter;
  readonly spoolDir: string;
  readonly batch: number;
  readonly retryFirstMs: number;
  readonly retryLongestMs: number;
  readonly freshnessRowMs: number;
}

export interface Bounds {
  readonly maxMs: number;
  readonly maxCount: number;
}

export interface CaughtUp {
  /** Processes that imported records claim. */
  readonly claims: ClaimsReport;
  /** Gaps that the boot of this machine has closed. */
  readonly gapsClosed: number;
}

export interface ReconcileReport extends CaughtUp {
  readonly spool: SpoolReport;
  readonly pass: PassReport;
}

export interface Observer {
  readonly sink: NoteSink;
  readonly runs: ObservedRuns;
  takeSpool(maxCount: number): Promise<SpoolReport>;
  /** Records of other tools; a dry run writes nothing. */
  importLegacy(request: LegacyRequest): Promise<readonly LegacyAnswer[]>;
  /** What is due whether or not anybody noted something: gaps that a boot has closed, processes that records claim. */
  catchUp(maxCount: number): Promise<CaughtUp>;
  reconcile(bounds: Bounds): Promise<ReconcileReport>;
  status(): ObserveStatus;
  coverage(request: CoverageRequest): CoverageReport;
  readonly metrics: Metrics;
}

export function createObserver(parts: ObserverParts): Observer {
  const { host, store, clock, adapter, spoolDir, batch } = parts;
  const { installationId } = store;
  const intake = new Intake({
    ...{ host, installationId, adapter, clock },
    placingOf: placingIn({ host, store, installationId, clock }),
  });
  const sink = storeSink({ host, store, intake, clock });
  const runs = createObservedRuns(parts);
  const legacy = new LegacyIntake(parts);
  async function catchUp(maxCount: number): Promise<CaughtUp> {
    const gapsClosed = await closeGapsOfEarlierBoots({ host, store }, clock.now());
    return { gapsClosed, claims: await confirmClaims({ host, store, adapter, batch, maxCount }) };
  }
  const drain = (maxCount: number) => takeSpool({ spoolDir, sink, clock, maxCount });
  return {
    sink,
    runs,
    takeSpool: drain,
    importLegacy: (request) => legacy.take(request),
    catchUp,
    async reconcile({ maxMs, maxCount }) {
      const spool = await drain(maxCount);
      const caughtUp = await catchUp(maxCount);
      const pass = await reconcileOnce({ runs, store, adapter, clock, maxMs, maxCount, batch });
      return { spool, ...caughtUp, pass };
    },
    status: () => observeStatus(parts),
    coverage: (request) => coverageReport(parts, request),
    metrics: createMetrics(parts),
  };
}
