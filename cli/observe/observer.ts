/**
 * Who observes: the daemon that has the store, or this process for one short command where nobody has it (ruling 17).
 * Nothing is started, and nothing that this module reaches could start, signal or remove anything (INT-03).
 */
import { loadConfig, observerPace } from '../../actors/daemon/config.ts';
import { createHost } from '../../actors/host/host.ts';
import type { Clock } from '../../actors/observe/clock.ts';
import type { LinuxAdapter } from '../../actors/observe/linux/adapter.ts';
import { createObserver } from '../../actors/reconcile/observer.ts';
import { type Places, readRendezvous } from '../../actors/runtime/places.ts';
import { protocol } from '../../machines/protocol.ts';
import { StoreError } from '../../persistence/errors.ts';
import { openStore } from '../../persistence/store.ts';
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

/** Runs `work` with whoever observes here. Throws StoreError, `config_invalid`, or what the daemon refuses. */
export async function withObserver<T>(here: Here, work: (observer: AnyObserver) => Promise<T>): Promise<T> {
  return byDaemonOr(here, work, () => locally(here, work, true));
}

type Importer = Pick<AnyObserver, 'importLegacy'>;

/** As `withObserver`, for what only asks: where there is no store it makes none. */
export async function withoutWriting<T>(here: Here, work: (observer: Importer) => Promise<T>): Promise<T> {
  return byDaemonOr(here, work, async () => {
    try {
      return await locally(here, work, false);
    } catch (cause) {
      if (!(cause instanceof StoreError && cause.code === 'store_missing')) throw cause;
      return work(nothingKnown);
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
  otherwise: () => Promise<T>,
): Promise<T> {
  const rendezvous = readRendezvous(places);
  if (rendezvous) {
    try {
      return await work(remoteObserver(new Client(rendezvous, () => credentialOf(places))));
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
): Promise<T> {
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
      return await work({
        ...observer,
        status: async () => observer.status(),
        coverage: async (request) => observer.coverage(request),
      });
    } finally {
      await host.close();
      adapter.close();
    }
  } finally {
    store.close();
  }
}
