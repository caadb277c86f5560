/** The inspector over a real store in which something was measured, and what measures it (METR-01). */
import { onTestFinished } from 'vitest';
import { createMetrics, type Metrics } from '../../../../actors/metrics/metrics.ts';
import { createLinuxAdapter } from '../../../../actors/observe/linux/adapter.ts';
import { daemonLeaving } from '../../../../actors/runtime/operatingError.ts';
import { minuteOf } from '../../../../persistence/commitMeter.ts';
import type { Store } from '../../../../persistence/store.ts';
import { type HostedOptions, hosted } from './hosted.ts';

export const minuteMs = 60_000;

export function measuring() {
  const made = hosted();
  const { store, host, daemon, open } = made;
  const adapter = createLinuxAdapter({ installationId: store.installationId as never });
  const metrics = createMetrics({ host, store, adapter, clock: daemon.clock, spoolDir: '/nonexistent/spool' });
  const leaving = new AbortController();
  // Before the store is closed, as a daemon does.
  onTestFinished(() => leaving.abort(daemonLeaving()));
  const openWith = (measured: Pick<Metrics, 'history'> = metrics, options: HostedOptions = {}) =>
    open({ ...options, daemon: { measured, leaving: leaving.signal, ...options.daemon } });
  return { ...made, metrics, leaving, openWith };
}

export const pass = { elapsedUs: 5_000, reads: 7, lookedAt: 1, deferred: 0, outcomes: { alive: 1 } };

/** Something in each table, at several times of the last hour and one before it. */
export function fill(store: Store, nowMs: number): void {
  const minute = { attempts: 4, busy: 1, committed: 3, longestUs: 900, buckets: new Map([[139, 3]]), journaled: 5 };
  const gap = { kind: 'note_lost', fromWallMs: 0, count: 1, bootId: 'b' };
  store.write(() => {
    for (const [at, ago] of [2, 2, 30, 59, 200].entries())
      store.passes.add({ ...pass, wallMs: nowMs - ago * minuteMs, elapsedUs: 1_000 * (at + 1) });
    store.passes.add({
      ...pass,
      wallMs: nowMs - 30 * minuteMs,
      outcomes: { 'unknown:denied': 2, 'unknown:hidden': 1 },
    });
    // Looked at nobody, and counts nowhere.
    store.passes.add({ ...pass, wallMs: nowMs - 10 * minuteMs, lookedAt: 0, elapsedUs: 9e9 });
    for (const ago of [3, 40]) store.commitMinutes.add({ ...minute, minute: minuteOf(nowMs) - ago });
    store.recoveries.add({ wallMs: nowMs - 20 * minuteMs, who: 'daemon', elapsedUs: 1_500 });
    store.contradictions.record({ prediction: 'p', wallMs: nowMs - 5 * minuteMs, evidence: 'e' });
    for (const [gapId, ago] of Object.entries({ old: 300, late: 15, closed: 25 }))
      store.coverageGaps.record({ ...gap, gapId, producer: 'shell', toWallMs: nowMs - ago * minuteMs });
    store.coverageGaps.close('closed', 'sweep', nowMs - 12 * minuteMs);
  });
}
