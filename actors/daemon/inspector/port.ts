/**
 * The inspector as the daemon knows it. It is made of parts that may import this one and not the other way round, so the
 * entry module passes it in; here stands what it is given, and what it has to give.
 */
import type { Metrics } from '../../metrics/metrics.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { CallArguments, CallName } from '../api/contract.ts';
import type { CallResults } from '../api/results.ts';
import type { HealthView, ReceiptView, Reply, ScopeView } from '../api/views.ts';
import type { ExplainParts } from '../explainer.ts';

/** What a running daemon shows to an inspector, and the one way in which that may change anything. */
export interface InspectedDaemon extends Runtime, ExplainParts {
  /** As the operator, through the dispatch of the API. Throws what the API refuses. */
  readonly call: <Name extends CallName>(
    name: Name,
    args: CallArguments<Name>,
    signal: AbortSignal,
  ) => Promise<Extract<Reply<CallResults[Name]>, { readonly ok: true }>>;
  readonly health: () => HealthView;
  readonly capacity: () => { readonly used: number; readonly limit: number; readonly scopeIds: readonly string[] };
  readonly admission: () => 'open' | 'paused' | 'closed';
  readonly lifecycle: () => string;
  /** As `processes` shows it, its guardian asked while it is open; undefined where there is none that can be read. */
  readonly scope: (scopeId: string) => Promise<ScopeView | undefined>;
  /** Looks into the directory of the scope. */
  readonly receiptsOf: (scopeId: string) => readonly ReceiptView[];
  /** What was measured on this host, step by step, read beside everything else. */
  readonly measured: Pick<Metrics, 'history'>;
  /** What shows the holder of the terminals that the operator asks. Throws as `operatorKey` does. */
  readonly credential: () => string;
}

export interface InspectorPlace {
  /** 0: whichever is free. */
  readonly tcpPort: number;
}

/** What one page may do. */
export interface PageGrant {
  readonly control: boolean;
  /** Pages of these origins may read the inspection protocol besides programs without one. */
  readonly origins: readonly string[];
}

export interface OfferedPage {
  /** With a code in the fragment that counts once. */
  readonly url: string;
  readonly expiresMs: number;
  /** Where clients of the Stately inspection protocol connect to; holds a secret of its own, which only reads. */
  readonly inspectionUrl: string;
}

export interface RunningInspector {
  readonly tcpPort: number;
  offer(grant: PageGrant): OfferedPage;
  /** Resolves with what it ran into, when it serves no more without having been closed. */
  readonly failed: Promise<Error>;
  /** Tells everybody who looks, and resolves when the port is free. */
  close(): Promise<void>;
}

export interface InspectorPort {
  /** Throws the system's error of listen(2): EADDRINUSE, EACCES. */
  listen(daemon: InspectedDaemon, place: InspectorPlace): Promise<RunningInspector>;
}
