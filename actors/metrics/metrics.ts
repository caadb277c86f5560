/** What a process measures, and what it says of what was measured: the same with and without a daemon. */

import { StoreError } from '../../persistence/errors.ts';
import { OperatingError } from '../runtime/operatingError.ts';
import { expositionOf, familiesOf } from './exposition.ts';
import { type HistoryRequest, metricsHistory } from './history.ts';
import { Recorder, type RecorderParts } from './recorder.ts';
import type { MetricsHistory, MetricsReport } from './report.ts';
import { metricsReport, windowFrom } from './series.ts';

export interface MetricsParts extends RecorderParts {
  readonly spoolDir: string;
}

export interface MetricsRequest {
  /** Wall-clock milliseconds. */
  readonly sinceMs: number;
}

/** `stepMs` is whole minutes. Windows begin at multiples of it, so that the same step is the same whoever asks when. */
export interface PastRequest extends Pick<HistoryRequest, 'stepMs' | 'signal'> {
  readonly spanMs: number;
}

export interface Metrics {
  readonly recorder: Recorder;
  /** Throws `invalid_window` for one that begins later than now. */
  report(request: MetricsRequest): MetricsReport;
  /** The same of the newest steps, as many as `spanMs` needs and the one that is not over; beside everything else. */
  history(request: PastRequest): Promise<MetricsHistory>;
  /** For Prometheus, and whoever reads its text format. */
  exposition(): string;
}

export function createMetrics(parts: MetricsParts): Metrics {
  const recorder = new Recorder(parts);
  /** What was measured up to now belongs to it; a store that takes nothing says what it has. */
  const upToDate = (): void => {
    try {
      recorder.record();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
  };
  return {
    recorder,
    report({ sinceMs }) {
      const { wallMs } = parts.clock.now();
      if (sinceMs > wallMs) throw invalidWindow();
      upToDate();
      return metricsReport(parts, windowFrom(sinceMs, wallMs));
    },
    async history({ spanMs, stepMs, signal }) {
      upToDate();
      const { wallMs: untilMs } = parts.clock.now();
      const fromMs = Math.max(0, Math.floor((untilMs - spanMs) / stepMs) * stepMs);
      return metricsHistory(parts, { window: { fromMs, untilMs }, stepMs, signal });
    },
    exposition() {
      upToDate();
      return expositionOf(familiesOf(parts));
    },
  };
}

const invalidWindow = (): OperatingError =>
  new OperatingError({
    code: 'invalid_window',
    message: 'the window would begin later than now',
    exitCode: 2,
    next: ['custody metrics --since 24h'],
  });
