/** What the parts of a running daemon share. Built once when it starts; nothing in here is looked up globally. */
import type { Logger } from 'pino';
import { sequencedId } from '../../machines/sequencedId.ts';
import type { StoreError } from '../../persistence/errors.ts';
import type { Store } from '../../persistence/store.ts';
import type { Host } from '../host/api.ts';
import type { Clock } from '../observe/clock.ts';
import type { LinuxAdapter } from '../observe/linux/adapter.ts';
import type { Places } from './places.ts';

/** The parameters in force; where each came from is the concern of whoever reads the file. */
export interface Settings {
  readonly capacity: number;
  readonly handshakeMs: number;
  readonly onRootExit: string;
  readonly graceMs: number;
  readonly drainBudgetMs: number;
  readonly shutdownBudgetMs: number;
  readonly observeIntervalMs: number;
  readonly freshnessRowMs: number;
  readonly reconcileBatch: number;
  readonly reconcileTimeMs: number;
  readonly responseMs: number;
  readonly retryBackoffMs: number;
  readonly retryBackoffLongestMs: number;
  readonly finalDrainMs: number;
  readonly captureJoinMs: number;
  readonly captureMemoryBytes: number;
  readonly transcriptMaxBytes: number;
  readonly transcripts: string;
  readonly checks: Readonly<Record<string, readonly string[]>>;
  readonly checkTimeoutMs: number;
  readonly tickIntervalMs: number;
  readonly silenceMs: number;
  readonly startupMs: number;
  readonly serviceManager: string;
  readonly workGroup: string;
}

/** The program that is launched as the scheduling worker, and the whole environment that it and its checks get. */
export interface WorkerProgram {
  readonly program: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** The program that holds terminals, and the limits that it is started with. */
export interface PtyHostProgram {
  readonly program: string;
  readonly limits: Readonly<Record<string, number>>;
  /** How long it may take until it listens; one that hangs before would hold up its launch for ever. */
  readonly startMs: number;
}

export interface Runtime {
  readonly places: Places;
  readonly config: Settings;
  readonly store: Store;
  /** What the last write into the store ran into; undefined while writes succeed. */
  readonly storeFailure: () => StoreError | undefined;
  readonly host: Host;
  readonly adapter: LinuxAdapter;
  readonly clock: Clock;
  /** The executable that is launched, and the SHA-256 under which a contract knows it. */
  readonly guardian: { readonly path: string; readonly digest: string };
  readonly ptyHost: PtyHostProgram;
  /** Where guardians and the PTY host are put, so that the end of the daemon's control group does not reach them. */
  readonly workGroup: { readonly directory: string | undefined; readonly reason: string };
  readonly worker: WorkerProgram;
  /** The program of a thread that compares a result with its schema. */
  readonly schemaWorker: string;
  readonly log: Logger;
  readonly version: string;
  readonly startedMonoMs: number;
  /** Aborted, with the error for whoever waits, when the daemon begins to leave: nobody's wait keeps it (ruling 21). */
  readonly leaving: AbortSignal;
}

/** Sequence numbers within one start; together with the start number they make observation ids unique (ruling 2). */
export function createSequence(store: Pick<Store, 'epoch' | 'startNumber'>): (what: string) => string {
  let last = 0;
  return (what) => {
    last += 1;
    return sequencedId(what, store, last);
  };
}
