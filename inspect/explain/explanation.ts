/** Why an actor stands where it stands, as every surface shows it: the command line, the inspector and JSON. */
import type { ExplainedView } from '../../actors/daemon/api/explanationViews.ts';
import type { DrainCause } from '../../machines/evidence.ts';

/** What one transition out of the present state would be answered, as far as the context alone tells. */
export interface GuardAnswer {
  readonly event: string;
  /** `a and not b`; empty where nothing is asked. */
  readonly guard: string;
  /** `depends`: on fields that the event will bring. */
  readonly answer: boolean | 'depends';
  /** What has to hold, and what of it does not, in words. */
  readonly sentence: string;
  /** Id of the state that it leads to (`run.lifecycle.bound`); null where it stays and only notes something. */
  readonly target: string | null;
  /** Fields of the event that the guards looked at before they could answer. */
  readonly reads: readonly string[];
  /** Leaf guards that the context alone makes refuse. */
  readonly refused: readonly string[];
}

/** How the tree of a run or a scope ended, or is about to. */
export interface Ending {
  /** Of the root (wait(2)); null where nobody has recorded it. */
  readonly result: {
    readonly how: string;
    readonly exitCode: number | null;
    readonly signal: number | null;
    readonly errno: number | null;
  } | null;
  /** The order to end it, `natural` where its root ended by itself; null where there was none. `at` is UTC in ISO 8601. */
  readonly drain: { readonly cause: DrainCause; readonly by: string | null; readonly at: string | null } | null;
}

/** What would lead on, and who can bring it. */
export interface Unblocking {
  /** The type of the event that carries it. */
  readonly evidence: string;
  readonly supplier: string;
  readonly sentence: string;
}

export interface Explanation extends ExplainedView {
  /** Of the actor's record; 0 where the record cannot be read. */
  readonly version: number;
  /** One path for each region: `lifecycle.bound`. Empty where the record cannot be trusted. */
  readonly state: readonly string[];
  readonly what: string;
  /** Empty where nothing is waited for. */
  readonly waitsFor: readonly string[];
  readonly next: readonly GuardAnswer[];
  readonly unblocks: readonly Unblocking[];
  /** Of a run with a scope of ours, and of a scope; null of everything else, and before anything has ended. */
  readonly ending: Ending | null;
  /** `at` is UTC in ISO 8601. */
  readonly last: { readonly position: number; readonly at: string | null; readonly sentence: string } | null;
}
