/** Whoever traces what is committed is made above this folder, and handed in by the entry module. */
import type { Runtime } from '../runtime/runtime.ts';

export interface RunningTracing {
  /** Tells what has ended so far, while the store can still be read. */
  finish(): void;
  /** Sends what waits, for a bounded time. */
  close(): Promise<void>;
}

export type Tracing = (runtime: Pick<Runtime, 'host' | 'store' | 'log' | 'version' | 'clock'>) => RunningTracing;
