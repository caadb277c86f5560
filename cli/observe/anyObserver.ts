/** What the observe commands ask for, whoever answers: this process, or the daemon that has the store. */
import type { LegacyAnswer } from '../../actors/ingest/legacy/decision.ts';
import type { LegacyRequest } from '../../actors/ingest/legacy/intake.ts';
import type { NoteSink } from '../../actors/ingest/sink.ts';
import type { SpoolReport } from '../../actors/ingest/takeSpool.ts';
import type { MetricsRequest } from '../../actors/metrics/metrics.ts';
import type { MetricsReport } from '../../actors/metrics/report.ts';
import type { CoverageReport, CoverageRequest } from '../../actors/reconcile/coverage.ts';
import type { Bounds, ReconcileReport } from '../../actors/reconcile/observer.ts';
import type { ObserveStatus } from '../../actors/reconcile/status.ts';

export interface AnyObserver {
  readonly sink: NoteSink;
  importLegacy(request: LegacyRequest): Promise<readonly LegacyAnswer[]>;
  takeSpool(maxCount: number): Promise<SpoolReport>;
  reconcile(bounds: Bounds): Promise<ReconcileReport>;
  status(): Promise<ObserveStatus>;
  coverage(request: CoverageRequest): Promise<CoverageReport>;
  metrics(request: MetricsRequest): Promise<MetricsReport>;
  exposition(): Promise<string>;
}
