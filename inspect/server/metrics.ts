/** What was measured on this host, for pictures. A day is a hundred thousand passes: whoever asks while it is read gets what is read. */
import type { InspectedDaemon } from '../../actors/daemon/inspector/port.ts';
import { type MetricsAnswer, type MetricsWindow, metricsWindows } from './contract.ts';

/** Throws what the store ran into, and that the daemon leaves. */
export function metricsReader({ measured, leaving: signal }: InspectedDaemon) {
  const underWay = new Map<MetricsWindow, Promise<MetricsAnswer>>();
  return async (window: MetricsWindow): Promise<MetricsAnswer> => {
    const known = underWay.get(window);
    if (known !== undefined) return known;
    const answer = measured.history({ ...metricsWindows[window], signal });
    underWay.set(window, answer);
    try {
      return await answer;
    } finally {
      underWay.delete(window);
    }
  };
}
