/**
 * Who observes: the daemon that has the store, or this process for one short command where nobody has it (ruling 17).
 * Nothing is started, and nothing that this module reaches could start, signal or remove anything (INT-03).
 */
import { loadConfig, observerPace } from '../../actors/daemon/config.ts';
import { createHost } from '../../actors/host/host.ts';
import type { Recorder } from '../../actors/metrics/recorder.ts';
import type { Clock } from '../../actors/observe/clock.ts';
import type { LinuxAdapter } from '../../actors/observe/linux/adapter.ts';
import { createObserver } from '../../actors/reconcile/observer.ts';
import { type Places, readRendezvous } from '../../actors/runtime/places.ts';
import { protocol } from '../../machines/protocol.ts';
import { StoreError } from '../../persistence/errors.ts';
import { openStore, type Store } from '../../persistence/store.ts';
import { Client, DaemonAbsent } from '../client.ts';
import { credentialOf } from '../credential.ts';
import type { AnyObserver } from './anyObserver.ts';
import { remoteObserver } from './remote.ts';

/** Chosen by the entry module (ID-04). */
export interface Platform {
  clock(): Clock;
  adapterFor(installationId: string): LinuxAdapter;
}

export interface Here {
  readonly places: Places;
  readonly platform: Platform;
}

/** What the work answered, and what has to be said of the store that it comes from. */
export interface Observed<T> {
  readonly data: T;
  readonly warnings: readonly string[];
}

/** Runs `work` with whoever observes here. Throws StoreError, `config_invalid`, or what the daemon refuses. */
export async function withObserver<T>(here: Here, work: (observer: AnyObserver) => Promise<T>): Promise<Observed<T>> {
  return byDaemonOr(here, work, () => locally(here, work, true));
}

type Importer = Pick<AnyObserver, 'importLegacy'>;

/** As `withObserver`, for what only asks: where there is no store it makes none. */
export async function withoutWriting<T>(here: Here, work: (observer: Importer) => Promise<T>): Promise<Observed<T>> {
  return byDaemonOr(here, work, async () => {
    try {
      return await locally(here, work, false);
    } catch (cause) {
      if (!(cause instanceof StoreError && cause.code === 'store_missing')) throw cause;
      return { data: await work(nothingKnown), warnings: [] };
    }
  });
}

/** Of an installation that has not begun. */
const nothingKnown: Importer = {
  importLegacy: async ({ records }) =>
    records.map(({ kind }) =>
      kind === 'binding' ? { outcome: 'refused', id: null, reason: 'unknown_run' } : { outcome: 'imported', id: null },
    ),
};

async function byDaemonOr<T>(
  { places }: Here,
  work: (observer: AnyObserver) => Promise<T>,
  otherwise: () => Promise<Observed<T>>,
): Promise<Observed<T>> {
  const rendezvous = readRendezvous(places);
  if (rendezvous) {
    try {
      return { data: await work(remoteObserver(new Client(rendezvous, () => credentialOf(places)))), warnings: [] };
    } catch (cause) {
      if (!(cause instanceof DaemonAbsent)) throw cause;
    }
  }
  return otherwise();
}

async function locally<T>(
  { places, platform }: Here,
  work: (observer: AnyObserver) => Promise<T>,
  create: boolean,
): Promise<Observed<T>> {
  const { config } = loadConfig(places, process.env);
  const clock = platform.clock();
  const store = openStore({ stateDir: places.stateDir, clock, create, busyMs: config.sqliteBusyMs });
  try {
    const adapter = platform.adapterFor(store.installationId);
    const host = createHost({ ...protocol, store, clock, limits: { payloadBytes: config.payloadMaxBytes } });
    try {
      const observer = createObserver({
        host,
        store,
        clock,
        adapter,
        spoolDir: places.spoolDir,
        ...observerPace(config),
      });
      const { recorder } = observer.metrics;
      const data = await work({
        ...observer,
        status: async () => observer.status(),
        coverage: async (request) => observer.coverage(request),
        metrics: async (request) => observer.metrics.report(request),
        exposition: async () => observer.metrics.exposition(),
        async reconcile(bounds) {
          const report = await observer.reconcile(bounds);
          const { complete, unavailable } = report.pass;
          if (complete && unavailable === null) recorder.recovered('observer', process.uptime() * 1_000);
          return report;
        },
      });
      recordQuietly(recorder);
      return { data, warnings: warningsOf(store) };
    } finally {
      await host.close();
      adapter.close();
    }
  } finally {
    store.close();
  }
}

/** A store that is new knows nothing, which must not pass for having nothing to say (FAULT-08). */
const warningsOf = ({ created, stateDir, warnings }: Store): readonly string[] => [
  ...(created ? [`there was no store in ${stateDir}: this one is new and knows of nothing yet`] : []),
  ...warnings.map(({ message }) => message),
];

/** What was done stands, whether or not it can be said how long it took; who has written nothing writes nothing. */
function recordQuietly(recorder: Recorder): void {
  try {
    if (recorder.isWaiting) recorder.record();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}
